"""`python -m gough`: the command line."""

from gough.cli import main

if __name__ == "__main__":
    main()
