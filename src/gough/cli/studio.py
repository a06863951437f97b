"""`gough studio`."""

from __future__ import annotations

import os
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import Smooth, Within, smoothing
from gough.cli.terminal import err, out
from gough.errors import InputError, MissingDataError

if TYPE_CHECKING:
    from gough.studio.app import Studio
    from gough.studio.motions import Track

FIRST = "kim-ryu-2002"
PORT = 8080


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROBOT|RESULT",
            help="catalogue names, robot files (.toml) and results of gough simulate (.nc)",
        ),
    ] = None,
    motion: Annotated[
        Path | None, typer.Option("--motion", help="motion file (.csv, .nc) to play")
    ] = None,
    smooth: Smooth = False,
    within: Within = None,
    host: Annotated[
        str, typer.Option(help="address to listen on; others than 127.0.0.1 let others in")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port; the next free one if it is in use")] = PORT,
    browser: Annotated[
        bool, typer.Option("--open/--no-browser", help="open the page in the browser")
    ] = True,
) -> None:
    """The robot in the browser: move it, play motions, see forces.

    Plays results of simulations too, and shows which limits are exceeded.

    Example: gough studio kim-ryu-2002
    """
    from gough.studio.guard import is_loopback

    running = start(names or [], motion, host, port, smoothing(smooth, within))
    address = running.server.address
    if running.server.get_port() != port:
        err.print(f"port {port} is in use, taking the next free one", highlight=False)
    if not is_loopback(host):
        err.print("note: everyone who has this address can use the page", highlight=False)
    try:
        out.print(f"gough studio: {address}   (Ctrl-C ends it)", highlight=False, soft_wrap=True)
        with opened(address) if browser else nullcontext():
            while running.running:
                time.sleep(0.5)
    except KeyboardInterrupt:
        out.print("studio ended")
    finally:
        running.stop()


@contextmanager
def opened(address: str) -> Iterator[None]:
    """The page in the browser, by way of a file of this user's that sends it on to its address.

    All users of a machine see the arguments of its programs: the address, and its token, may not be
    one of them. The file lies at home, where browsers in a cage of their own can read it as well.
    """
    try:
        handle, name = mkstemp(".html", "gough-studio-", Path.home())
    except (OSError, RuntimeError) as error:
        err.print(f"note: open the address above yourself ({error})", markup=False)
        yield
        return
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={address}">\n')
        webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)


def start(
    names: list[str], motion: Path | None, host: str, port: int, smooth: bool | float = False
) -> Studio:
    """Check everything that was named, then start the server and the studio."""
    try:
        import viser  # noqa: F401
    except ImportError:
        raise MissingDataError("the studio needs viser: pip install 'gough[studio]'") from None
    from gough.show.layout import SceneLayout
    from gough.studio.app import Studio
    from gough.studio.guard import free_port
    from gough.studio.library import Library
    from gough.studio.motions import of_file, results
    from gough.studio.server import StudioServer

    robots = [name for name in names if Path(name).suffix.lower() != ".nc"]
    files = [Path(name) for name in names if Path(name).suffix.lower() == ".nc"]
    library = Library(robots)
    label = robots[0] if robots else FIRST
    tracks: dict[str, Track] = {}
    for path in files:
        robot, found = results(path, library.load(label).robot if robots else None)
        tracks |= found
        if not robots:
            label = library.add(path.name, robot)
            if len(files) > 1:
                raise InputError("several results: name the robot before them")
    opened = library.load(label).robot
    _ = opened.meshes  # a missing one is told here, not on the page
    SceneLayout.of(opened)  # what cannot be opened is an error here, not on the page
    if motion is not None:
        tracks = {motion.name: of_file(motion, opened, smooth), **tracks}
    server = StudioServer(host, free_port(host, port))
    running = Studio(server, library, label, tracks)
    running.start()
    return running
