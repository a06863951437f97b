"""A robot as an FMU: description, C sources, binary and a page about it, in one archive."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from html import escape
from importlib import resources
from pathlib import Path

from gough.base.files import replacing, to_write
from gough.engine.emit.c import sanitised
from gough.errors import FileError, InputError, MissingDataError
from gough.exchange.fmu import build, programs
from gough.exchange.fmu.description import Description, build_description, fmi2, fmi3
from gough.exchange.fmu.parameters import WIDTH, changing, with_width
from gough.exchange.fmu.robot_source import RobotSource, Traced, robot_source, traced
from gough.exchange.fmu.variables import Variables, forward_variables, inverse_variables
from gough.exchange.programs import can_force
from gough.model.batch import yes_or_no
from gough.model.model import Model

VERSIONS: dict[int, Callable[[Description], bytes]] = {2: fmi2, 3: fmi3}
SHARED = ("rotation.c", "rotation.h", "joints.c", "joints.h", "model.h")
MOMENT = (1980, 1, 1, 0, 0, 0)
"""The date of files in the archive: the same robot gives the same file."""


def export_fmu(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    fmi: int = 2,
    inverse: bool = False,
    reactions: bool = False,
    sources_only: bool = False,
) -> Path:
    """Write a robot as a functional mock-up unit, for co-simulation and for model exchange.

    Forces of actuators (N, N m) and a wrench on the platform go in; pose, twist, q and q̇ come out.
    Coulomb friction without `width` gets one of 1e-3 m/s and rad/s in the forward model.

    Args:
        robot: the robot; its masses and home are needed.
        path: the file, robot.fmu.
        fmi: version of the standard, 2 or 3.
        inverse: the inverse model, motion in and forces out.
        reactions: forces and moments in the joints as outputs, too.
        sources_only: leave out the binary, which needs a C compiler; importers that compile can do.

    Returns:
        The path.

    """
    if not isinstance(fmi, int) or fmi not in VERSIONS:
        raise InputError(f"fmi is 2 or 3, not {fmi!r}")
    inverse, reactions = yes_or_no("inverse", inverse), yes_or_no("reactions", reactions)
    sources_only = yes_or_no("sources_only", sources_only)
    if inverse and reactions:
        raise InputError("reactions are outputs of the forward model, not of the inverse one")
    if not sources_only:
        build.compiler()
    robot.need_rigid_drives("an FMU")
    robot.need_rigid_legs("an FMU")
    smooth = robot if inverse else with_width(robot)
    source, variables = _model(smooth, inverse, reactions)
    kind = "inverse.c" if inverse else "forward.c"
    names = ("gough_robot.c", "rotation.c", "joints.c", kind, f"fmi{fmi}.c")
    identifier = f"gough_{sanitised(robot.name)}" + ("_inverse" if inverse else "")
    files = _files(source, identifier, fmi, kind)
    token = "{" + hashlib.sha256(b"\0".join(files[n] for n in sorted(files))).hexdigest()[:32] + "}"
    files["token.h"] = f'#define TOKEN "{token}"\n'.encode()
    about = "Inverse model: motion in, actuator forces out" if inverse else (
        "Actuator forces and wrench in, motion of the platform out"
    )  # fmt: skip
    if smooth is not robot:
        about += f". Coulomb friction without width has one of {WIDTH:g} m/s and rad/s here"
    model = Description(robot.name, identifier, about, token, variables, names)
    contents = {"modelDescription.xml": VERSIONS[fmi](model)}
    contents |= {f"sources/{name}": data for name, data in files.items()}
    if fmi == 3:
        contents["sources/buildDescription.xml"] = build_description(model)
    contents["documentation/index.html"] = _page(model)
    if not sources_only:
        contents[build.place(fmi).format(identifier)] = build.binary(files, names)
    return _write(to_write(path), contents)


def _model(robot: Model, inverse: bool, reactions: bool) -> tuple[RobotSource, Variables]:
    """The robot's own C, and the variables of the interface."""
    lacking = ", ".join(f"[{one}]" for one in robot.description.missing)
    if lacking:
        raise MissingDataError(f"{robot.name}: an FMU needs the masses of {lacking}")
    if robot.description.home is None:
        raise MissingDataError(f"{robot.name} has no home pose, where an FMU starts")
    if inverse and not can_force(robot):
        raise InputError(
            f"{robot.name} has {robot.actuator_count} actuators; the inverse model of a platform that "
            f"moves in {robot.mobility} directions needs as many"
        )
    numbers = changing(robot)
    actuators = robot.actuator_count
    chains = robot.mechanism.legs.coordinates
    if inverse:
        model = traced(robot, numbers, "inverse", programs.inverse, {"wrench": (6,)})
        variables = inverse_variables(robot, numbers.parameters)
        settles = chains > 0
    else:
        function = programs.dynamics_with_reactions if reactions else programs.dynamics
        inputs = {"forces": (actuators,), "wrench": (6,)}
        model = traced(robot, numbers, "dynamics", function, inputs)
        variables = forward_variables(
            robot, numbers.parameters, model.program if reactions else None
        )
        settles = chains > 0 or robot.mobility < 6
    every: list[Traced] = [model]
    if settles:
        every.append(traced(robot, numbers, "settle", programs.settle, {}))
    return robot_source(robot, numbers, every, variables), variables


def _files(source: RobotSource, identifier: str, fmi: int, kind: str) -> dict[str, bytes]:
    """Sources by name."""
    folder = resources.files("gough.exchange.fmu") / "sources"
    shared = {name: (folder / name).read_bytes() for name in (*SHARED, kind, f"fmi{fmi}.c")}
    own = {
        "layout.h": source.layout,
        "gough_robot.h": source.header,
        "gough_robot.c": source.source,
    }
    return shared | {name: text.encode("ascii") for name, text in own.items()}


def _page(model: Description) -> bytes:
    """documentation/index.html: the variables."""
    rows = "\n".join(
        f"<tr><td>{escape(one.name)}</td><td>{one.causality}</td><td>{one.unit or ''}</td>"
        f"<td>{'' if one.start is None else f'{one.start:g}'}</td>"
        f"<td>{escape(one.description)}</td></tr>"
        for one in model.variables.each
    )
    return f"""\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(model.name)}</title></head><body>
<h1>{escape(model.name)}</h1>
<p>{escape(model.about)}. SI units, radians, right-handed frames; twists and wrenches in world axes, at
the origin of the platform's frame. Quaternions are (w, x, y, z).</p>
<table><tr><th>variable</th><th>causality</th><th>unit</th><th>start</th><th></th></tr>
{rows}
</table></body></html>
""".encode()


def _write(path: Path, contents: dict[str, bytes]) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    try:
        with replacing(path) as temporary:
            Path(temporary).write_bytes(buffer.getvalue())
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    return path
