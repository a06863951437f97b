"""What browsers ask for: their threads put it in a queue, the studio's own does it in turn."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.motion import Motion
from gough.studio.pose import nearest_pose, pose_of

if TYPE_CHECKING:
    import viser

    from gough.robot import Robot
    from gough.show.layout import SceneLayout
    from gough.studio.record import StudioRecord
    from gough.studio.scene import View
    from gough.studio.setup import StudioSetup


class Requests(ABC):
    """The asking side of a studio; every public method may be called from any thread."""

    layout: SceneLayout
    robot: Robot
    """The robot with the settings of the page."""
    shown: StudioRecord | None
    """None until the first robot is open."""

    def __init__(self) -> None:
        self.pivot = np.zeros(3)
        """What the handle holds, platform frame, m."""
        self._requests: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wanted: tuple[Callable[[], Motion], bool] | None = None
        """The latest pose asked for, and whether by the handle: earlier ones need no drawing."""

    def move_to(self, values: Array) -> None:
        """Slider values (m,) of a pose."""
        if self.shown is not None and np.isfinite(values).all():
            self._wanted = (lambda: pose_of(self.robot, values), False)

    def drag_to(self, place: Array, wxyz: Array) -> None:
        """A pose of the handle."""
        if self.shown is None or not np.isfinite([*place, *wxyz]).all() or not np.any(wxyz):
            return
        turn = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()
        at = place - turn @ self.pivot
        self._wanted = (lambda: nearest_pose(self.robot, Motion(at, turn)), True)

    def jog(self, step: Array, platform_axes: bool) -> None:
        """A step (6,) from here: shift, m, and rotation vector, rad, about the pivot."""
        self._requests.put(lambda: self._jog(step, platform_axes))

    def set_pivot(self, pivot: Array) -> None:
        """The point (3,) of the platform that the handle holds and jogs turn about."""
        self._requests.put(lambda: self._set_pivot(pivot))

    def go_home(self) -> None:
        """Back to the home pose."""
        self._requests.put(self._go_home)

    def choose_robot(self, label: str) -> None:
        """Another robot of the library."""
        self._requests.put(lambda: self._open(label))

    def choose_motion(self, name: str) -> None:
        """Another motion on offer, or none."""
        self._requests.put(lambda: self._choose_motion(name))

    def redraw(self) -> None:
        """Show all numbers again."""
        self._requests.put(self._redraw)

    def play(self) -> None:
        """Play or pause."""
        self._requests.put(self._toggle)

    def seek(self, time: float) -> None:
        """Show an instant of the motion."""
        self._requests.put(lambda: self._seek(time))

    def set_speed(self, speed: float) -> None:
        """Seconds of motion a second."""
        self._requests.put(lambda: self._set_player(speed=speed))

    def set_loop(self, loop: bool) -> None:
        """Start again at the end."""
        self._requests.put(lambda: self._set_player(loop=loop))

    def set_up(self, setup: StudioSetup) -> None:
        """Other gravity, payload, friction."""
        self._requests.put(lambda: self._set_up(setup))

    def view(self, chosen: View) -> None:
        """What the scene shows."""
        self._requests.put(lambda: self._view(chosen))

    def export(self, what: str, client: viser.ClientHandle) -> None:
        """Send the motion, the forces, a picture or a film as a file to a browser."""
        self._requests.put(lambda: self._export(what, client))

    def _pending(self) -> Iterator[Callable[[], None]]:
        """What was asked for since the last time, first to last."""
        while True:
            try:
                yield self._requests.get_nowait()
            except queue.Empty:
                return

    @abstractmethod
    def _go_home(self) -> None: ...

    @abstractmethod
    def _redraw(self) -> None: ...

    @abstractmethod
    def _jog(self, step: Array, platform_axes: bool) -> None: ...

    @abstractmethod
    def _set_pivot(self, pivot: Array) -> None: ...

    @abstractmethod
    def _open(self, label: str) -> None: ...

    @abstractmethod
    def _choose_motion(self, name: str) -> None: ...

    @abstractmethod
    def _toggle(self) -> None: ...

    @abstractmethod
    def _seek(self, instant: float) -> None: ...

    @abstractmethod
    def _set_player(self, speed: float | None = None, loop: bool | None = None) -> None: ...

    @abstractmethod
    def _set_up(self, setup: StudioSetup) -> None: ...

    @abstractmethod
    def _view(self, chosen: View) -> None: ...

    @abstractmethod
    def _export(self, what: str, client: viser.ClientHandle) -> None: ...
