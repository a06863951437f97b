"""The studio itself: one state, one thread that changes and draws it, thirty times a second.

Browsers only ask; what they ask for is put in a queue and done in turn. Poses and instants that come
faster than they can be drawn replace each other. All browsers see the same state.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.errors import GoughError, InputError
from gough.motion import Motion
from gough.show.layout import SceneLayout, round_number
from gough.show.pictures.animation import instants
from gough.studio.export import force_file, motion_file
from gough.studio.levels import Level
from gough.studio.library import Library, Loaded, Stamp
from gough.studio.making import Making
from gough.studio.motions import Track, at_rest, offered
from gough.studio.panel import NO_MOTION, Panel
from gough.studio.player import Player
from gough.studio.pose import jogged, ranges, values_of
from gough.studio.record import StudioRecord
from gough.studio.scene import Scene, View
from gough.studio.setup import StudioSetup
from gough.studio.tables import past_limits, state_level
from gough.studio.taking import take_film, take_picture

if TYPE_CHECKING:
    import viser

    from gough.robot import Robot
    from gough.studio.server import StudioServer

TABLES = {"motion": motion_file, "forces": force_file}
"""What can be taken away as CSV."""
RATE = 30.0
"""Updates a second."""
TEXT_RATE = 6.0
"""Of numbers while a motion plays: nobody reads faster."""
WATCH = 0.5
"""Seconds between looks at the robot's file."""
DRAWN = 0.05
"""A deformation is first drawn about this part of the robot's size large."""


class Studio(Making):
    """Robot, pose or motion, and the page that shows them."""

    def __init__(
        self,
        server: StudioServer,
        library: Library,
        label: str,
        tracks: Mapping[str, Track] | None = None,
    ) -> None:
        super().__init__()
        self.server = server
        self.library = library
        self.tracks = dict(tracks or {})
        """Motions that were named when the studio started; they belong to the first robot."""
        self.first = label
        self.frames = 0
        """Updates drawn."""
        self.label = label
        self.loaded: Loaded
        """The robot as its file has it."""
        self.layout: SceneLayout
        self.scene: Scene
        self.setup: StudioSetup
        self.shown: StudioRecord | None = None
        self.sample = 0
        self.player: Player | None = None
        self._pace = (1.0, True)
        """Speed of the player, and whether it starts again at the end."""
        self.motion_name: str | None = None
        self.messages: dict[str, str] = {}
        self._stamp: Stamp = None
        self._dirty = True
        self._texts_at = self._watched_at = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.panel = Panel(server, library.labels, self)
        server.on_client_connect(self._joined)
        server.on_client_disconnect(lambda client: self._left(client.client_id))

    def _joined(self, client: viser.ClientHandle) -> None:
        """Another page: it has numbers of legs of its own, which face it."""
        self._requests.put(lambda: self.scene.tags.show_to(client))
        client.camera.on_update(lambda _: self.scene.tags.face(client))

    def _left(self, client_id: int) -> None:
        self._requests.put(lambda: self.scene.tags.forget(client_id))

    def start(self) -> None:
        """Open the first robot and go on until `stop`."""
        self.choose_robot(self.label)
        if self.tracks:
            self.choose_motion(next(iter(self.tracks)))
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the studio and its server."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=10.0)
        self.server.stop()

    @property
    def running(self) -> bool:
        """The studio's thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        last = due = time.perf_counter()
        while not self._ended.is_set():
            now = time.perf_counter()
            try:
                self.step(now - last)
            except Exception as error:  # a fault of the studio must not end it
                text = f"a fault of the studio: {type(error).__name__}: {error}"
                if self.messages.get("fault") != text:  # told once, not thirty times a second
                    traceback.print_exc(file=sys.stderr)
                self._say("fault", text)
            last = now
            due = max(due + 1 / RATE, time.perf_counter() - 1 / RATE)  # at most one is made up for
            self._ended.wait(max(0.0, due - time.perf_counter()))

    def step(self, seconds: float) -> None:
        """Do what was asked for, let time pass, and draw if something changed."""
        for request in self._pending():
            self._try(request)
        if self.shown is None:
            return
        now = time.perf_counter()
        if now - self._watched_at > WATCH:
            self._watched_at = now
            self._watch()
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._try(lambda: self._take(*wanted))
        if self.player is not None:
            was = self.player.playing
            if self.player.advance(seconds):
                self.sample, self._dirty = self.player.sample, True
            if was and not self.player.playing:
                self._paused()
        if self._dirty:
            self._draw(now)

    def _try(self, request: Callable[[], None]) -> None:
        """Do something; what gough refuses is said on the page."""
        try:
            request()
            self._say("refused", "")
        except GoughError as error:
            self._say("refused", str(error))

    def _say(self, about: str, text: str) -> None:
        """A message that stays until another about the same; an empty one takes it away."""
        if self.messages.get(about, "") == text:
            return
        self.messages[about] = text
        told = {name: text for name, text in self.messages.items() if text}
        calm = told.keys() <= {"busy"}
        self.panel.show_message(" · ".join(told.values()), Level.UNKNOWN if calm else Level.PAST)

    def _open(self, label: str) -> None:
        """Open a robot; the one before stays if that fails. The same again keeps pose and camera."""
        again = label == self.label and self.shown is not None
        self._say("busy", f"opening {label} …")
        try:
            stamp = self.library.stamp(label)
            loaded = self.library.load(label)
            layout = SceneLayout.of(loaded.robot)
            setup = StudioSetup.of(loaded.robot)
            low, high = ranges(loaded.robot, layout.size)
            shown = at_rest(loaded.robot, layout.home)
            if again and self.shown is not None:
                here = at_rest(loaded.robot, self.shown.motion[self.sample])
                shown = here if here.reached[0] else shown
        finally:
            self._say("busy", "")
            if self.shown is not None:
                self.panel.choose(self.label)
        self.label, self.loaded, self._stamp = label, loaded, stamp
        self.setup, self.layout = setup, layout
        for about in ("file", "pose", "fault"):
            self._say(about, "")
        self._become(loaded.robot, shown)
        self._forget()
        with self.server.atomic():
            self.panel.show_robot(label, loaded, setup, low, high)
            self.panel.show_motions(tuple(self._offered()), None)
            self.panel.show_pose(values_of(loaded.robot, shown.motion[0]))
        if not again:
            self.scene.look()

    def _become(self, robot: Robot, shown: StudioRecord) -> None:
        """Draw another robot in a pose."""
        before: Scene | None = getattr(self, "scene", None)
        self.robot = robot
        self.scene = Scene(self.server, robot, self.layout)
        if before is not None:
            before.tags.remove()
            self.scene.view = before.view._replace(magnified=1.0)
        for handle in self.scene.handles:
            handle.on_update(self._dragged)
        self.panel.show_setup(bool(robot.modes))
        self._hold(shown)
        self._magnify()

    def _magnify(self) -> None:
        """Draw deformations so that they are well seen."""
        if self.scene.deepest > 0:
            seen = DRAWN * self.layout.size / self.scene.deepest
            factor = round_number(float(np.clip(seen, 1.0, 1e6)))
            self.scene.view = self.scene.view._replace(magnified=factor)
            self.panel.show_magnified(factor, 4 * factor)

    def _hold(self, shown: StudioRecord) -> None:
        """Show a pose, no motion."""
        self.player, self.motion_name = None, None
        self.shown, self.sample, self._dirty = shown, 0, True
        self.panel.show_playing(False)
        self.panel.show_curves(None, None, "")
        self.scene.draw_path(None)
        self.scene.scale_to(shown)
        self._place_handle()

    async def _dragged(self, event: Any) -> None:
        if event.phase == "end":
            self._requests.put(self._let_go)
        else:
            self.drag_to(np.array(event.target.position), np.array(event.target.wxyz))

    def _let_go(self) -> None:
        """The handle goes back to the platform, also from where no leg could follow it."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._take(*wanted)
        self._say("pose", "")
        self._place_handle()
        self._dirty = True

    def _place_handle(self) -> None:
        assert self.shown is not None
        turn = self.shown.motion.rotation[self.sample]
        for handle in self.scene.handles:
            handle.position = self.shown.motion.position[self.sample] + turn @ self.pivot
            handle.wxyz = self.shown.wxyz[self.sample]
            handle.visible = self.scene.view.handle and not self._playing

    @property
    def _playing(self) -> bool:
        return self.player is not None and self.player.playing

    def _take(self, wanted: Callable[[], Motion], dragged: bool) -> None:
        """Move to a pose asked for; one out of reach is told and not taken."""
        self._dirty = True
        try:
            pose = wanted()
        except GoughError as error:
            self._say("pose", f"the platform cannot go there: {error}")
            return
        shown = at_rest(self.robot, pose, self.setup.friction)
        if not shown.reached[0]:
            self._say("pose", f"the legs cannot follow: {shown.troubles.get(0, '')}")
            return
        self._say("pose", shown.troubles.get(0, ""))
        if self.player is not None:
            self._hold(shown)
        self.shown, self.sample = shown, 0
        self.scene.deepest = max(self.scene.deepest, self.scene.deepest_of(shown))
        if dragged:
            self.panel.show_pose(values_of(self.robot, pose))
        else:
            self._place_handle()

    def _jog(self, step: Array, platform_axes: bool) -> None:
        assert self.shown is not None
        here = self.shown.motion[self.sample]
        self._take(lambda: jogged(self.robot, here, step, self.pivot, platform_axes), True)
        self._place_handle()

    def _redraw(self) -> None:
        self._texts_at, self._dirty = 0.0, True

    def _set_pivot(self, pivot: Array) -> None:
        self.pivot = pivot
        self._place_handle()

    def _go_home(self) -> None:
        home = self.layout.home
        self._say("pose", "")
        self._hold(at_rest(self.robot, home, self.setup.friction))
        self.panel.show_pose(values_of(self.robot, home))

    def _offered(self) -> dict[str, Callable[[], Track]]:
        tracks = self.made | (self.tracks if self.label == self.first else {})
        own = {name: (lambda track=track: track) for name, track in tracks.items()}
        return own | offered(self.robot, self.layout, self.label)

    def _choose_motion(self, name: str) -> None:
        if name == NO_MOTION:
            self._go_home()
            return
        makers = self._offered()
        if name not in makers:
            raise InputError(f"no motion {name!r} is on offer"[:120])
        self._say("busy", f"computing {name} …")
        try:
            track = makers[name]()
            shown = track.record(self.robot, self.setup.friction)
        finally:
            self._say("busy", "")
        self._show_motion(name, track, shown)

    def _show_motion(self, name: str, track: Track, shown: StudioRecord) -> None:
        assert shown.motion.time is not None
        self.player = Player(shown.motion.time, *self._pace)
        self.motion_name, self.shown, self.sample, self._dirty = name, shown, 0, True
        self._say("pose", "")
        self.scene.scale_to(shown)
        self._magnify()
        with self.server.atomic():
            self.panel.show_motions(tuple(self._offered()), name)
            self.panel.show_curves(shown, self.player, track.remarks(shown))
            self.panel.show_playing(False)
            self.panel.show_pose(values_of(self.robot, shown.motion[0]))
            self.scene.draw_path(shown.motion.position)
            self._place_handle()

    def _toggle(self) -> None:
        if self.player is None:
            raise InputError("there is no motion to play: choose one first")
        self.player.toggle()
        self.panel.show_playing(self.player.playing)
        self._place_handle()
        if not self.player.playing:
            self._paused()

    def _paused(self) -> None:
        """What is only shown at rest: handle, sliders, every number."""
        assert self.shown is not None
        self.panel.show_playing(False)
        self._place_handle()
        self.panel.show_pose(values_of(self.robot, self.shown.motion[self.sample]))
        self._texts_at, self._dirty = 0.0, True

    def _seek(self, instant: float) -> None:
        if self.player is None or not np.isfinite(instant):
            return
        self.player.playing = False
        self.player.seek(instant)
        self.sample = self.player.sample
        self._paused()

    def _set_player(self, speed: float | None = None, loop: bool | None = None) -> None:
        before, again = self._pace
        pace = before if speed is None else float(np.clip(speed, 0.01, 100.0))
        self._pace = pace, again if loop is None else loop
        if self.player is not None:
            self.player.speed, self.player.loop = self._pace

    def _set_up(self, setup: StudioSetup) -> None:
        """The robot with other settings, in the same pose or motion."""
        assert self.shown is not None
        robot = setup.apply(self.loaded.robot)
        shown = at_rest(robot, self.shown.motion[self.sample], setup.friction)
        name, now = self.motion_name, None if self.player is None else self.player.now
        self.setup = setup
        if bool(robot.modes) != bool(self.robot.modes):
            self._become(robot, shown)
        else:
            self.robot = self.scene.robot = robot
            self._hold(shown)
        if name is not None and now is not None:
            self._choose_motion(name)
            self._seek(now)

    def _view(self, chosen: View) -> None:
        self.scene.view = chosen
        self._dirty = True
        self._place_handle()

    def _export(self, what: str, client: viser.ClientHandle) -> None:
        assert self.shown is not None
        stem = f"{Path(self.label).stem}-{what}"
        if what in TABLES:
            name, content = f"{stem}.csv", TABLES[what](self.shown)
        elif what == "picture":
            name, content = f"{stem}.png", take_picture(client)
        else:
            name, content = f"{stem}.gif", self._film(client)
        client.send_file_download(name, content, save_immediately=True)

    def _film(self, client: viser.ClientHandle) -> bytes:
        """The motion as a page sees it, instant by instant."""
        if self.player is None or self.shown is None:
            raise InputError("there is no motion to film: choose one first")
        chosen, rate = instants(self.shown.motion)
        before = self.sample

        def show(k: int) -> None:
            self._say("busy", f"filming, {k + 1} of {len(chosen)} …")
            self.sample = chosen[k]
            self._draw(time.perf_counter())

        try:
            return take_film(client, show, len(chosen), rate)
        finally:
            self._say("busy", "")
            self.sample, self._dirty = before, True

    def _watch(self) -> None:
        """Read the robot's file again when it has changed; a broken one is told, the robot stays."""
        stamp = self.library.stamp(self.label)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._open(self.label)
        except GoughError as error:
            self._say("file", f"the robot file cannot be read, the last good one is shown: {error}")

    def _draw(self, now: float) -> None:
        assert self.shown is not None
        shown, sample = self.shown, self.sample
        self._dirty = False
        texts = not self._playing or now - self._texts_at > 1 / TEXT_RATE
        lost = bool(self.messages.get("pose"))
        with self.server.atomic():
            if shown.reached[sample]:
                alarmed = lost or state_level(shown, sample) is Level.PAST
                self.scene.show(shown, sample, alarmed)
            if texts:
                self._texts_at = now
                self.panel.show_numbers(shown, sample)
                self.panel.show_deepest(self.scene.deepest)
                self.panel.show_values(shown, sample)
                self._say("limits", past_limits(shown, sample))
            if self.player is not None:
                self.panel.show_player(self.player)
        self.frames += 1
