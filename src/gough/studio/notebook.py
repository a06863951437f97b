"""The studio inside a notebook: a frame that shows its page.

    from gough.studio.notebook import open_studio
    open_studio(robot, motion)

The server is this process and ends with it, or by `stop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gough.errors import InputError, MissingDataError
from gough.motion import Motion
from gough.robot import Robot

if TYPE_CHECKING:
    from gough.studio.app import Studio

HOST, PORT = "127.0.0.1", 8080
MOTION = "motion"


class NotebookStudio:
    """A running studio; as the last value of a cell it shows itself."""

    def __init__(self, running: Studio, height: int) -> None:
        self.running, self.height = running, height

    @property
    def address(self) -> str:
        """Of the page, for a browser of its own."""
        return self.running.server.address

    def stop(self) -> None:
        """End the studio; its frame stays and shows nothing new."""
        self.running.stop()

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:1px solid #d5d9de;border-radius:4px"
        return f'<iframe src="{self.address}" style="{style}"></iframe>'


def open_studio(robot: Robot, motion: Motion | None = None, *, height: int = 640) -> NotebookStudio:
    """Start a studio for a robot and show it in the notebook's page.

    The notebook must run on this machine, at localhost or 127.0.0.1: other pages are refused.

    Args:
        robot: any robot.
        motion: of batch shape (n,) with times, offered first.
        height: of the frame, pixels.

    Returns:
        The studio in its frame; `stop` ends it.

    """
    try:
        import viser  # noqa: F401
    except ImportError:
        raise MissingDataError("the studio needs viser: pip install 'gough[studio]'") from None
    from gough.show.layout import SceneLayout
    from gough.studio.app import Studio
    from gough.studio.guard import free_port
    from gough.studio.library import Library
    from gough.studio.motions import Track
    from gough.studio.server import StudioServer

    SceneLayout.of(robot)  # what cannot be shown is an error here, not on the page
    tracks = {}
    if motion is not None:
        if len(motion.shape) != 1 or motion.time is None or len(motion) < 2:
            raise InputError(
                f"motion of batch shape {motion.shape}: the studio plays (n,) with times"
            )
        tracks[MOTION] = Track(motion)
    library = Library()
    label = library.add(robot.name, robot)
    server = StudioServer(HOST, free_port(HOST, PORT), framed=True)
    running = Studio(server, library, label, tracks)
    running.start()
    return NotebookStudio(running, height)
