"""The studio's part that makes motions: of poses that were added, of the motion shown, of a vehicle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from gough.errors import InputError
from gough.motion import Motion
from gough.studio import plans
from gough.studio.motions import Track
from gough.studio.plans import PlanLimits
from gough.studio.pose import labels, values_of
from gough.studio.requests import Requests

if TYPE_CHECKING:
    from gough.studio.panel import Panel
    from gough.studio.player import Player
    from gough.studio.setup import StudioSetup

MOST_POSES = 50
"""Of a path."""
PATH, FASTER = "path through poses", "the same path, retimed"
"""Names of motions made here."""


class Making(Requests):
    """What the tab for plans asks for."""

    panel: Panel
    player: Player | None
    setup: StudioSetup
    sample: int

    def __init__(self) -> None:
        super().__init__()
        self.poses: list[Motion] = []
        """Of the path, batch shape () each."""
        self.made: dict[str, Track] = {}
        """Motions made for the robot that is shown."""

    def add_pose(self) -> None:
        """The pose shown becomes the next of the path."""
        self._requests.put(self._add_pose)

    def clear_poses(self) -> None:
        """No path."""
        self._requests.put(self._clear_poses)

    def plan(self, corner: float, limits: PlanLimits) -> None:
        """The path as fast as limits allow."""
        poses = list(self.poses)
        self._make(
            PATH, lambda: plans.planned(self.robot, poses, corner, limits, self.setup.friction)
        )

    def retime(self, limits: PlanLimits) -> None:
        """The motion shown as fast as limits allow."""

        def make() -> Track:
            if self.player is None or self.shown is None:
                raise InputError("there is no motion to retime: choose one first")
            return plans.faster(self.robot, self.shown.motion, limits, self.setup.friction)

        self._make(FASTER, make)

    def feel(self, manoeuvre: str, way: str, scale: float, limits: PlanLimits) -> None:
        """A vehicle's manoeuvre made felt."""
        self._make(
            f"{manoeuvre}, {way}", lambda: plans.felt(self.robot, manoeuvre, way, scale, limits)
        )

    def ask_room(self) -> None:
        """How far the pose shown can go."""
        self._requests.put(self._ask_room)

    def _add_pose(self) -> None:
        if self.shown is None:
            return
        if len(self.poses) == MOST_POSES:
            raise InputError(f"a path has {MOST_POSES} poses at most")
        here = self.shown.motion[self.sample]
        self.poses.append(Motion(here.position, here.rotation))
        self._show_poses()

    def _clear_poses(self) -> None:
        self.poses = []
        self._show_poses()

    def _show_poses(self) -> None:
        self.panel.plan.show_poses([self._words(one) for one in self.poses])

    def _words(self, pose: Motion) -> str:
        """A pose as its sliders have it."""
        parts = zip(labels(self.robot), values_of(self.robot, pose), strict=True)
        return ", ".join(f"{name.split()[0]} {value:.4g}" for name, value in parts)

    def _forget(self) -> None:
        """Another robot: nothing that was made for the one before."""
        self.made = {}
        self._clear_poses()
        self.panel.plan.show_room("", [])

    def _ask_room(self) -> None:
        if self.shown is None:
            return
        self.panel.plan.show_room("", [])
        here = self.shown.motion[self.sample]
        pose = Motion(here.position, here.rotation)
        rows = plans.room_in_words(self.robot, pose, self.pivot)
        self.panel.plan.show_room(self._words(pose), rows)

    def _make(self, name: str, make: Callable[[], Track]) -> None:
        def done() -> None:
            self._say("busy", f"computing {name} …")
            try:
                self.made[name] = make()
            finally:
                self._say("busy", "")
            self._choose_motion(name)
            self._toggle()

        self._requests.put(done)

    @abstractmethod
    def _say(self, about: str, text: str) -> None: ...
