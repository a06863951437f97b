"""Several groups of legs as one: their arrays side by side along the axis of legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from gough.mechanics.body import Body, Frame
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.leg import Grips, Health, Holding, Leg, LegLoad, MovingLeg, Ports, Rubbing
from gough.mechanics.vectors import Components, stacked


@dataclass(frozen=True)
class LegGroups:
    """Groups of legs, numbered through in order."""

    groups: tuple[Leg, ...]

    JOINTS: ClassVar[tuple[str, ...]] = ("joint1", "joint2", "joint3")

    @property
    def BODIES(self) -> tuple[str, ...]:
        """None that all groups have."""
        return ()

    @property
    def LINEAR_FRICTION(self) -> tuple[str, ...]:
        """Those of all groups."""
        return tuple(dict.fromkeys(name for one in self.groups for name in one.LINEAR_FRICTION))

    @property
    def LOAD_FRICTION(self) -> tuple[str, ...]:
        """Those of all groups."""
        return tuple(dict.fromkeys(name for one in self.groups for name in one.LOAD_FRICTION))

    @property
    def HEALTH(self) -> tuple[Health, ...]:
        """One group's after the other's."""
        return tuple(health for one in self.groups for health in one.HEALTH)

    @property
    def count(self) -> int:
        """Number of legs."""
        return sum(one.count for one in self.groups)

    @property
    def holders(self) -> tuple[int, ...]:
        """The leg of each actuator."""
        return tuple(
            start + leg
            for one, start in zip(self.groups, self.starts, strict=True)
            for leg in one.holders
        )

    @property
    def starts(self) -> tuple[int, ...]:
        """The first leg of each group."""
        counts = [one.count for one in self.groups]
        return tuple(sum(counts[:i]) for i in range(len(counts)))

    @property
    def coordinates(self) -> int:
        """Those of all chains."""
        return sum(one.coordinates for one in self.groups)

    def at_home(self) -> Components:
        """Those of all chains at home, (coordinates,)."""
        return np.concatenate([one.at_home() for one in self.groups])

    def scattered(self, q: Components, size: float, rng: Generator) -> Components:
        """Of each group."""
        parts = zip(self.groups, self._of_actuators(q), strict=True)
        return np.concatenate([one.scattered(part, size, rng) for one, part in parts])

    @property
    def rotor(self) -> Components:
        """Of all actuators, (actuators, 1)."""
        return one_below_another([one.rotor for one in self.groups])

    @property
    def friction(self) -> Friction:
        """Of all legs."""
        return Friction(
            *(
                one_below_another(list(part))
                for part in zip(*(one.friction for one in self.groups), strict=True)
            )
        )

    def named_bodies(self) -> dict[str, Body]:
        """Groups have bodies of their own: ask `groups`."""
        return {}

    def linear_friction(self) -> dict[str, Components]:
        """And friction of their own."""
        return {}

    def with_bodies(self, bodies: dict[str, Body]) -> Self:
        """The same: it has none."""
        return self

    def with_linear_friction(self, coefficients: dict[str, Components]) -> Self:
        """The same: it has none."""
        return self

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other drive inertias."""
        cuts = np.cumsum([len(one.holders) for one in self.groups])[:-1]
        parts = zip(self.groups, np.split(rotor, cuts), strict=True)
        return self.replace(groups=tuple(one.with_rotor(part) for one, part in parts))

    def replace(self, **numbers: Any) -> Self:
        """The same with other groups."""
        return type(self)(**numbers)

    def coarser(self, rounding: int) -> Self:
        """Of each group."""
        return self.replace(groups=tuple(one.coarser(rounding) for one in self.groups))

    def with_length_scale(self, length: Components) -> Self:
        """Of each group."""
        return self.replace(groups=tuple(one.with_length_scale(length) for one in self.groups))

    def shared(self, ports: Ports) -> list[Ports]:
        """The ports of each group."""
        found, place = [], 0
        for one, start in zip(self.groups, self.starts, strict=True):
            legs = slice(start, start + one.count)
            turning = ports.angular_velocity
            found.append(
                ports._replace(
                    position=ports.position[:, legs],
                    velocity=ports.velocity[:, legs],
                    acceleration=ports.acceleration[:, legs],
                    angular_velocity=turning if turning.shape[1] == 1 else turning[:, legs],
                    chains=ports.chains[place : place + one.coordinates],
                )
            )
            place += one.coordinates
        return found

    def moving(self, ports: Ports) -> MovingLegGroups:
        """All groups in motion."""
        pairs = zip(self.groups, self.shared(ports), strict=True)
        parts = tuple(one.moving(port) for one, port in pairs)
        names = [item.name for item in fields(MovingLeg) if item.name not in ("leg", "w", "health")]
        like = 0 * ports.position[0, :1]
        joined = {
            name: np.concatenate([getattr(part, name) + 0 * like for part in parts], axis=-2)
            for name in names
        }
        size = max(len(part.w) for part in parts)
        w = np.concatenate([widened(part.w, size) + 0 * like for part in parts], axis=1)
        return MovingLegGroups(leg=self, w=w, health=self._health(parts), parts=parts, **joined)

    def _health(self, parts: tuple[MovingLeg, ...]) -> Components:
        """Measures of each group; 1 of legs of the others."""
        rows = []
        like = 0 * parts[0].health[0, :1]
        for place, part in enumerate(parts):
            for measure in part.health:
                row = [1 + 0 * other.direction[0] + like for other in parts]
                row[place] = measure + like
                rows.append(np.concatenate(row))
        return stacked(*rows)

    def _of_actuators(self, q: Components) -> list[Components]:
        """Each group's part of (actuators, samples)."""
        return list(np.split(q, np.cumsum([len(one.holders) for one in self.groups])[:-1]))

    def grips(self, ports: Ports, q: Components) -> Grips:
        """Of each group, one after the other."""
        found = [
            one.grips(port, part)
            for one, port, part in zip(
                self.groups, self.shared(ports), self._of_actuators(q), strict=True
            )
        ]
        size = max(len(one.rows) for one in found)
        like = 0 * ports.position[0, :1]
        return Grips(
            np.concatenate([widened(one.rows, size) + like for one in found], axis=1),
            tuple(
                start + leg
                for one, start in zip(found, self.starts, strict=True)
                for leg in one.holders
            ),
            np.concatenate([one.error + like for one in found]),
            np.concatenate([one.residual + like for one in found]),
            np.concatenate([one.chains + like for one in found]),
            np.concatenate([one.missed + like for one in found]),
        )

    def sizes(self, q: Components) -> Components:
        """Of each group."""
        like = np.zeros((1, q.shape[-1]))
        parts = zip(self.groups, self._of_actuators(q), strict=True)
        return one_below_another(
            [one.sizes(part if len(part) else like) + like for one, part in parts]
        )

    def astray(self, q: Components, tip: Components) -> Components:
        """Of each group."""
        parts = zip(self.groups, self.starts, self._of_actuators(q), strict=True)
        return np.concatenate(
            [one.astray(part, tip[:, start : start + one.count]) for one, start, part in parts]
        )


@dataclass(frozen=True)
class MovingLegGroups(MovingLeg):
    """Groups of legs whose ports move in a given way."""

    leg: LegGroups
    parts: tuple[MovingLeg, ...]

    def alike(self) -> tuple[MovingLeg, ...]:
        """The groups."""
        return self.parts

    @property
    def chains(self) -> Components:
        """Coordinates of all chains, (coordinates, samples)."""
        return np.concatenate([part.chains + self._zero for part in self.parts])

    @property
    def chain_rates(self) -> Components:
        """Their time derivatives."""
        return np.concatenate([part.chain_rates + self._zero for part in self.parts])

    def slowest(self) -> Components:
        """Of each group."""
        return np.concatenate([part.slowest() + self._zero for part in self.parts])

    def levers(self) -> Components:
        """Of all actuators."""
        return np.concatenate([part.levers() + self._zero for part in self.parts])

    @property
    def closing(self) -> Components:
        """Of all chains, (legs of chains, samples)."""
        return np.concatenate([part.closing + self._zero for part in self.parts])

    @property
    def size(self) -> int:
        """3, or 6 where a port is a body."""
        return len(self.w)

    def rotation(self) -> tuple[Components, Components]:
        """Of the links, world axes."""
        return self.link_angular_velocity, self.link_angular_acceleration

    def joint_rate(self) -> Components:
        """Of each group."""
        return self._joined([part.joint_rate() for part in self.parts])

    def frames(self) -> tuple[Frame, ...]:
        """Groups have bodies of their own: ask `parts`."""
        return ()

    def of_joint(self, leg: int, joint: int) -> tuple[Components, Components]:
        """Of the group that the leg is in."""
        group = max(i for i, start in enumerate(self.leg.starts) if start <= leg)
        return self.parts[group].of_joint(leg - self.leg.starts[group], joint)

    def holding(self) -> Holding | None:
        """What the legs of all groups hold."""
        starts = self.leg.starts
        found = [
            (start, one)
            for start, part in zip(starts, self.parts, strict=True)
            if (one := part.holding()) is not None
        ]
        if not found:
            return None
        return Holding(
            np.concatenate([widened(one.n, self.size) for _, one in found], axis=1),
            tuple(start + leg for start, one in found for leg in one.holders),
            np.concatenate([one.gap for _, one in found]),
            np.concatenate([one.second for _, one in found]),
        )

    def load(self, gravity: Components) -> LegLoad:
        """Of each group."""
        loads = [part.load(gravity) for part in self.parts]
        return LegLoad(
            self._joined([one.sideways for one in loads]),
            np.concatenate([one.along + self._zero for one in loads]),
        )

    def inertia(self) -> Components:
        """Of each group, (3, 3, legs, samples), or (6, 6, legs, samples)."""
        every = []
        for part in self.parts:
            own = part.inertia()
            if len(own) < self.size:
                whole = np.zeros((6, 6, *own.shape[2:]), dtype=own.dtype) + 0 * own[0, 0]
                whole[:3, :3] = own
                own = whole
            every.append(own + self._zero)
        return np.concatenate(every, axis=2)

    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """Of each group."""
        found = []
        for part, start in zip(self.parts, self.leg.starts, strict=True):
            legs = slice(start, start + part.leg.count)
            turning = (
                angular_velocity if angular_velocity.shape[1] == 1 else angular_velocity[:, legs]
            )
            own = None if loads is None else Loads(*(one[legs] for one in loads))
            found.append(part.rubbing(turning, own))
        return Rubbing(
            np.concatenate([one.along + self._zero for one in found]),
            self._joined([one.push for one in found]),
            self._joined([one.couple for one in found]),
            self._joined([one.universal for one in found]),
            np.concatenate([one.loss + self._zero for one in found]),
        )

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Of each group; NaN where a leg has no such joint."""
        found = []
        actuators = 0
        for part, start in zip(self.parts, self.leg.starts, strict=True):
            legs = slice(start, start + part.leg.count)
            driven = slice(actuators, actuators + len(part.leg.holders))
            actuators = driven.stop
            own = Rubbing(
                rubbing.along[driven],
                rubbing.push[: len(part.w), legs],
                rubbing.couple[:, legs],
                rubbing.universal[:, legs],
                rubbing.loss[legs],
            )
            found.append(part.reactions(gravity, push[: len(part.w), legs], own))
        names = dict.fromkeys(name for one in found for name in one)
        return {name: self._side_by_side(name, found) for name in names}

    def _side_by_side(self, name: str, found: list[dict[str, Components]]) -> Components:
        """A reaction of all legs, (3, legs, samples) or, joint by joint, (3, joints, legs, samples)."""
        shapes = [one[name].shape[1:-2] for one in found if name in one]
        wide = max(shapes)
        rows = []
        for part, one in zip(self.parts, found, strict=True):
            none = np.nan + 0 * part.direction
            for _ in wide:
                none = none[:, np.newaxis]
            missing = np.concatenate([none] * wide[0], axis=1) if wide else none
            value = one.get(name, missing)
            if wide and value.shape[1] < wide[0]:
                value = np.concatenate(
                    [value, missing[:, value.shape[1] :] + 0 * value[:, :1]], axis=1
                )
            rows.append(value + self._zero)
        return np.concatenate(rows, axis=-2)

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """Of each group."""
        found = []
        for part, start in zip(self.parts, self.leg.starts, strict=True):
            legs = slice(start, start + part.leg.count)
            own = {name: value[..., legs, :] for name, value in reactions.items()}
            found.append(part.load_vectors(own) + self._zero)
        return np.concatenate(found, axis=1)

    def potential_energy(self, gravity: Components) -> Components:
        """Of each group."""
        return np.concatenate([part.potential_energy(gravity) + self._zero for part in self.parts])

    @property
    def _zero(self) -> Components:
        """0 with all samples, (1, samples)."""
        return 0 * self.direction[0, :1]

    def _joined(self, parts: list[Components]) -> Components:
        """Vectors of all legs, those of points widened where a port is a body."""
        size = max(len(part) for part in parts)
        return np.concatenate([widened(part, size) + self._zero for part in parts], axis=1)


def one_below_another(parts: list[Components]) -> Components:
    """(rows, variants or 1) of all groups in one array."""
    wide = np.broadcast_shapes(*(part.shape[1:] for part in parts))
    return np.concatenate([np.broadcast_to(part, (len(part), *wide)) for part in parts])


def widened(vectors: Components, size: int) -> Components:
    """Forces at points (3, ...) as (size, ...): no moment."""
    if len(vectors) == size:
        return vectors
    return np.concatenate([vectors, 0 * vectors])


def parted(legs: Leg) -> tuple[Leg, ...]:
    """Legs as groups that are alike: one where they all are."""
    return legs.groups if isinstance(legs, LegGroups) else (legs,)


def joined(groups: Sequence[Leg]) -> Leg:
    """Groups of legs as one: itself where there is one, all groups in groups side by side."""
    flat = [part for one in groups for part in parted(one)]
    return flat[0] if len(flat) == 1 else LegGroups(tuple(flat))
