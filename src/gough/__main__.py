"""The command line: `gough`, or `python -m gough`."""

import sys


def main() -> None:
    """Entry point; also Ctrl-C while the command line is still being loaded is 130."""
    try:
        from gough.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
