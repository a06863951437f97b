"""Robot files to start from: a family's geometry from radii, angles and heights, its bodies by shape.

A draft asks for its numbers one after the other (`Answers`), so that the default of one may follow from
those before it, and gives the text of a robot file with remarks. Base and platform are level at home;
legs are numbered in the order of their angle about z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import cos, dist, isfinite, radians, sin, sqrt
from typing import NamedTuple

from gough.base.words import nearest
from gough.errors import InputError

STEEL = 7850.0
"""kg/m³."""
SMALLEST, LARGEST = 1e-9, 1e6
"""Of what is m, kg, kg/m³ and not 0: the file has ten digits, and what is 0 but for rounding is 0."""
THIRDS = (0.0, 120.0, 240.0)
Point = tuple[float, float, float]


class Question(NamedTuple):
    """A number that a draft asks for."""

    name: str
    words: str
    default: float
    unit: str
    zero: bool
    """It may be 0."""
    negative: bool
    follows: str
    """How the default follows from what was asked before; empty: it does not."""


class Answers:
    """Numbers for the questions of a draft: those given, else what `ask` says, else the default."""

    def __init__(
        self,
        given: Mapping[str, float] | None = None,
        ask: Callable[[Question], float] | None = None,
    ) -> None:
        self.given, self.ask = dict(given or {}), ask
        self.asked: list[Question] = []

    def __call__(
        self,
        name: str,
        words: str,
        default: float,
        unit: str = "m",
        *,
        zero: bool = False,
        negative: bool = False,
        follows: str = "",
    ) -> float:
        """The number of one question, checked."""
        question = Question(name, words, default, unit, zero, negative, follows)
        self.asked.append(question)
        if name in self.given:
            return checked(question, self.given[name])
        return default if self.ask is None else checked(question, self.ask(question))


def checked(question: Question, value: float) -> float:
    """A number, if it can be the answer."""
    wanted = "a number" if question.negative else "0 or more" if question.zero else "above 0"
    bad = (value < 0 and not question.negative) or (value == 0 and not question.zero)
    if not isfinite(value) or bad:
        raise InputError(f"{question.name} is {value:g} {question.unit}, must be {wanted}")
    if question.unit == "deg" and abs(value) > 360:
        raise InputError(f"{question.name} is {value:g} deg, must be at most 360")
    if question.unit != "deg" and value and not SMALLEST <= abs(value) <= LARGEST:
        limits = f"{SMALLEST:g} to {LARGEST:g} {question.unit}"
        raise InputError(f"{question.name} is {value:g} {question.unit}, must be {limits}")
    return value


def draft(family: str, name: str, answers: Answers) -> str:
    """The text of a robot file.

    Args:
        family: one of `FAMILIES`.
        name: the robot's.
        answers: numbers for its questions, m, degrees, kg/m³.

    Returns:
        TOML, with remarks.

    Example:
        >>> text = draft("hexapod", "mine", Answers({"base_radius": 1.0}))
        >>> gough.Robot.from_text(text).leg_count
        6

    """
    if family not in FAMILIES:
        raise InputError(f"no family {family!r}; the nearest is {nearest(family, [*FAMILIES])!r}")
    lines = FAMILIES[family](answers)
    known = [one.name for one in answers.asked]
    for key in answers.given:
        if key not in known:
            raise InputError(f"a {family} has no {key}; the nearest is {nearest(key, known)}")
    return "\n".join(["format = 1", f'name = "{name}"', *lines, ""])


def hexapod(ask: Answers) -> list[str]:
    """Six telescopic legs, UPS, in pairs on both rings."""
    base, platform, height = _rings(ask, 0.6, 0.35, 0.8)
    leg = dist(base[0], (platform[0][0], platform[0][1], height))
    shortest, stroke = _telescope(ask, leg)
    radius = ask(
        "cylinder_radius", "of the cylinders, outside", _round(leg / 40), follows="leg / 40"
    )
    inner = ask(
        "cylinder_inner_radius",
        "of the cylinders, inside",
        _round(0.6 * radius),
        zero=True,
        follows="0.6 of that",
    )
    rod = ask(
        "rod_radius", "of the rods in them", inner or _round(radius / 2), follows="fits inside"
    )
    if inner >= radius or (inner and rod > inner * (1 + 1e-9)):
        raise InputError(
            f"a rod of radius {rod:g} m in a cylinder of {inner:g} m inside, {radius:g} m outside"
        )
    plate, density = _platform(ask, _radius(platform))
    tube = f'shape = "tube", radius = {_n(radius)}, inner_radius = {_n(inner)}'
    return [
        _home(height),
        *plate,
        "",
        "[legs]",
        'kind = "UPS"  # universal joint on the base, telescope, spherical joint on the platform',
        f"base = {_points(base)}  # world frame, m, leg by leg",
        f"platform = {_points(platform)}  # platform frame, m",
        "cross = {}  # without mass",
        f"cylinder = {{ {tube}, length = {_n(shortest)}, density = {density} }}  # from the base up",
        f"rod = {{ {_rod(rod, shortest, density)} }}  # from the platform down",
        f"limits = {{ stroke = [{_n(shortest)}, {_n(shortest + stroke)}] }}  # m; also force (N), "
        "speed (m/s)",
    ]


def hexaslide(ask: Answers) -> list[str]:
    """Six sliders on rails and links of fixed length, PUS, in pairs on both rings."""
    sliders, platform, height = _rings(ask, 0.6, 0.25, 0.5, "sliders")
    return _sliding(ask, sliders, platform, height, "")


def linear_delta(ask: Answers) -> list[str]:
    """Three sliders whose links are parallelograms, so that the platform keeps its rotation."""
    sliders, platform, height = _triangles(ask, 0.3, 0.06, -0.4, "sliders")
    return _sliding(ask, sliders, platform, height, 'mobility = "translation"')


def _sliding(
    ask: Answers, sliders: list[Point], platform: list[Point], height: float, held: str
) -> list[str]:
    """PUS legs with sliders in the middle of their rails at home, where z = 0."""
    slope = ask("rail_angle", "rails rise inwards by this, from level", 90.0, "deg", zero=True)
    stroke = ask("stroke", "travel of the sliders", 0.5)
    tips = [(x, y, height) for x, y, _ in platform]
    length = dist(sliders[0], tips[0])
    rails, origins = [], []
    for x, y, _ in sliders:
        away = sqrt(x * x + y * y)
        inward = cos(radians(slope))
        rail = (-inward * x / away, -inward * y / away, sin(radians(slope)))
        rails.append(rail)
        origins.append(_moved((x, y, 0.0), rail, -stroke / 2))
    ahead = sum((p - s) * a for p, s, a in zip(tips[0], sliders[0], rails[0], strict=True))
    if abs(ahead) < 0.05 * length:
        raise InputError("the links stand across their rails at home: choose another height")
    link = ask("link_radius", "of the links", _round(length / 60), follows="length / 60")
    slider = ask("slider_mass", "of a slider", 2.0, "kg", zero=True)
    plate, density = _platform(ask, _radius(platform), held)
    return [
        _home(height),
        *plate,
        "",
        "[legs]",
        'kind = "PUS"  # slider on a rail, universal joint, link, spherical joint on the platform',
        f"rail_origin = {_points(origins)}  # the slider's joint at q = 0, world frame, m",
        f"rail_direction = {_points(rails)}  # of growing q",
        f"length = {_n(length)}  # of the links, m",
        f'branch = "{"minus" if ahead > 0 else "plus"}"  # the slider is '
        f"{'behind' if ahead > 0 else 'ahead of'} the platform's joint along its rail",
        f"platform = {_points(platform)}  # platform frame, m",
        f"slider = {{ mass = {_n(slider)} }}",
        "cross = {}  # without mass",
        _link(link, length, density, held),
        f"limits = {{ stroke = [0, {_n(stroke)}] }}  # m; also force (N), speed (m/s)",
    ]


def rotary(ask: Answers) -> list[str]:
    """Six cranks on motors and links of fixed length, RUS, in pairs on both rings."""
    motors, platform, height = _rings(ask, 0.2, 0.15, 0.25, "motors")
    angles = [angle for third in THIRDS for angle in (third - 90, third + 90)]
    return _cranked(ask, motors, platform, height, angles, 1.0, 0.06, "")


def delta(ask: Answers) -> list[str]:
    """Three cranks whose links are parallelograms, so that the platform keeps its rotation."""
    motors, platform, height = _triangles(ask, 0.2, 0.05, -0.7, "motors")
    held = 'mobility = "translation"'
    return _cranked(ask, motors, platform, height, THIRDS, -1.0, 0.3, held)


def _cranked(
    ask: Answers,
    motors: list[Point],
    platform: list[Point],
    height: float,
    angles: Sequence[float],
    up: float,
    default: float,
    held: str,
) -> list[str]:
    """RUS legs whose cranks are level at home, q = 0; q grows as they rise (`up` 1) or sink (−1)."""
    crank = ask("crank_length", "from the motor's axis to the link", default)
    turn = ask("stroke", "turn of a crank, half of it each way", 120.0, "deg")
    zeros = [(cos(radians(one)), sin(radians(one)), 0.0) for one in angles]
    axes = [(up * y, -up * x, 0.0) for x, y, _ in zeros]
    knee, tip = _moved(motors[0], zeros[0], crank), (platform[0][0], platform[0][1], height)
    length = dist(knee, tip)
    arm = ask("crank_radius", "of the cranks, as rods", _round(crank / 20), follows="crank / 20")
    link = ask("link_radius", "of the links", _round(length / 80), follows="length / 80")
    plate, density = _platform(ask, _radius(platform), held)
    half = radians(turn) / 2
    return [
        _home(height),
        *plate,
        "",
        "[legs]",
        'kind = "RUS"  # crank on a motor, universal joint, link, spherical joint on the platform',
        f"motor = {_points(motors)}  # centre of the crank's circle, world frame, m",
        f"motor_axis = {_points(axes)}  # q grows right-handed: the crank "
        f"{'rises' if up > 0 else 'sinks'}",
        f"crank_zero = {_points(zeros)}  # where the crank points at q = 0",
        f"crank_length = {_n(crank)}",
        f"length = {_n(length)}  # of the links, m",
        f'branch = "{"minus" if up * height > 0 else "plus"}"',
        f"platform = {_points(platform)}  # platform frame, m",
        f"crank = {{ {_rod(arm, crank, density)} }}",
        "cross = {}  # without mass",
        _link(link, length, density, held),
        "rotor_inertia = 0  # of motor and gear: J n², kg m²; put it in before sizing drives",
        f"limits = {{ stroke = [{_n(-half)}, {_n(half)}] }}  # rad; also force (N m), speed (rad/s)",
    ]


def tripod(ask: Answers) -> list[str]:
    """Three telescopic legs on hinges, RPS: the platform lifts and tilts."""
    base, platform, height = _triangles(ask, 0.5, 0.3, 0.8, "hinges")
    foot, tip = base[0], (platform[0][0], platform[0][1], height)
    leg = dist(foot, tip)
    shortest, stroke = _telescope(ask, leg)
    tube = ask("cylinder_radius", "of the cylinders, as rods", _round(leg / 40), follows="leg / 40")
    rod = ask("rod_radius", "of the rods in them", _round(tube / 2), follows="half of that")
    plate, density = _platform(ask, _radius(platform))
    up = tuple((b - a) / leg for a, b in zip(foot, tip, strict=True))
    down = tuple(-one for one in up)
    turns = [(0.0, 0.0, radians(one)) for one in THIRDS]
    return [
        _home(height),
        *plate,
        "",
        "[legs]  # three alike, each given in its own frame as it stands at home",
        'kind = "chain"',
        f"rotation_vector = {_points(turns)}  # of the legs' frames, rad",
        "",
        "[[legs.joints]]",
        'type = "revolute"  # the hinge on the base',
        f"point = {_point(foot)}",
        "axis = [0, 1, 0]",
        f"body = {{ {_rod(tube, shortest, density)}, axis = {_point(up)} }}  # the cylinder",
        "",
        "[[legs.joints]]",
        'type = "prismatic"  # the telescope, which is driven',
        f"point = {_point(tip)}",
        f"axis = {_point(up)}",
        "actuated = true",
        f"home = {_n(leg)}  # what q reads at home, m: here the leg's length",
        f"stroke = [{_n(shortest)}, {_n(shortest + stroke)}]  # m; also force (N), speed (m/s)",
        f"body = {{ {_rod(rod, shortest, density)}, axis = {_point(down)} }}  # the rod",
        "",
        "[[legs.joints]]",
        'type = "spherical"  # holds the platform',
        f"point = {_point(tip)}",
    ]


FAMILIES: Mapping[str, Callable[[Answers], list[str]]] = {
    "hexapod": hexapod,
    "hexaslide": hexaslide,
    "rotary": rotary,
    "delta": delta,
    "linear-delta": linear_delta,
    "tripod": tripod,
}
"""Drafts there are, by the name of the family."""


def _rings(
    ask: Answers, base: float, platform: float, height: float, what: str = "joints"
) -> tuple[list[Point], list[Point], float]:
    """Six points on each of two circles, in pairs; pairs of the platform stand between the base's."""
    radius = ask("base_radius", f"of the circle through the {what} on the base", base)
    apart = ask("base_angle", f"between two {what} of a pair", 20.0, "deg", zero=True)
    top = ask("platform_radius", "of the circle through the joints on the platform", platform)
    spread = ask("platform_angle", "between two joints of a pair there", 20.0, "deg", zero=True)
    for angle in (apart, spread):
        if angle > 120:
            raise InputError(f"pairs {angle:g}° wide; three of them have 120° each")
    up = _height(ask, height, what)
    below = [one for third in THIRDS for one in (third - apart / 2, third + apart / 2)]
    above = [one for third in THIRDS for one in (third - 60 + spread / 2, third + 60 - spread / 2)]
    return _circle(radius, below), _circle(top, above), up


def _triangles(
    ask: Answers, base: float, platform: float, height: float, what: str
) -> tuple[list[Point], list[Point], float]:
    """Three points on each of two circles."""
    radius = ask("base_radius", f"of the circle through the {what} on the base", base)
    top = ask("platform_radius", "of the circle through the joints on the platform", platform)
    return _circle(radius, THIRDS), _circle(top, THIRDS), _height(ask, height, what)


def _height(ask: Answers, height: float, what: str) -> float:
    words = f"of the platform above the {what} at home; negative: it hangs below"
    return ask("height", words, height, negative=True)


def _telescope(ask: Answers, leg: float) -> tuple[float, float]:
    """Shortest length and travel of a leg in the middle of its stroke at home.

    Cylinder and rod are as long as the shortest leg l; the longest, l + stroke, still has them overlap.
    """
    stroke = ask("stroke", "travel of the legs, half of it each way", leg / 2, follows="leg / 2")
    if 1.5 * stroke >= leg:
        raise InputError(
            f"stroke is {stroke:g} m: a telescope of {leg:.4g} m at home has less than {leg / 1.5:.4g} m"
        )
    return leg - stroke / 2, stroke


def _platform(ask: Answers, radius: float, held: str = "") -> tuple[list[str], str]:
    """Return the lines of [platform], a disc of that radius, and the density of all bodies."""
    thick = ask(
        "thickness",
        "of the platform, a disc as wide as its joints",
        _round(radius / 20),
        follows="radius / 20",
    )
    density = _n(ask("density", "of all bodies; steel by default", STEEL, "kg/m³"))
    return [
        "",
        "[platform]",
        *([held] if held else []),
        'shape = "disc"  # all bodies are drafted solid: hollow or aluminium ones need smaller drives',
        f"radius = {_n(radius)}",
        f"thickness = {_n(thick)}",
        f"density = {density}",
        "# what is bolted to it: [[platform.payload]] with mass and center_of_mass, platform frame",
    ], density


def _circle(radius: float, degrees: Iterable[float]) -> list[Point]:
    return [(radius * cos(radians(one)), radius * sin(radians(one)), 0.0) for one in degrees]


def _radius(points: Sequence[Point]) -> float:
    return dist(points[0], (0.0, 0.0, 0.0))


def _moved(point: Point, direction: Sequence[float], by: float) -> Point:
    x, y, z = (one + by * step for one, step in zip(point, direction, strict=True))
    return x, y, z


def _home(height: float) -> str:
    return (
        f"home = {{ position = [0, 0, {_n(height)}] }}  # of the platform's frame in the world, m"
    )


def _rod(radius: float, length: float, density: str) -> str:
    return f'shape = "rod", radius = {_n(radius)}, length = {_n(length)}, density = {density}'


def _link(radius: float, length: float, density: str, held: str) -> str:
    """The link: a rod, or the two of a parallelogram, which keeps the platform's rotation (`held`)."""
    rod = _rod(radius, length, density)
    if not held:
        return f"link = {{ {rod} }}"
    return (
        f"link = {{ shapes = [{{ {rod} }}, {{ {rod} }}] }}  # both rods of the parallelogram as one"
    )


def _points(points: Iterable[Sequence[float]]) -> str:
    return f"[{', '.join(map(_point, points))}]"


def _point(point: Sequence[float]) -> str:
    return f"[{', '.join(map(_n, point))}]"


def _n(value: float) -> str:
    """A number as one would write it; what is 0 but for rounding is 0."""
    return f"{0.0 if abs(value) < 1e-12 else value:.10g}"


def _round(value: float) -> float:
    """Two digits, for defaults."""
    return float(f"{value:.2g}")
