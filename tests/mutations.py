"""Put wrong lines into the equations, one at a time, and see which tests find them.

Run by hand: `python tests/mutations.py`, with numbers of mutations to run these alone, and `--jobs 2`.
Each is tried in a copy of the tree, on the laws (`test_laws.py`), then on the files of its module, then on
the second tier of both. What these do not find is tried on the tests of another commit (`--old COMMIT`). The table has for each
line the test that failed first and the processor time; the exit code is the number of lines not found.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LAWS = "test_laws.py"
NO_TESTS = 5
"""Exit code of pytest where no test was asked for."""
LIMIT = 300
"""Seconds of processor time of one run of tests."""


class Module(NamedTuple):
    """A file of `src/gough`, and the tests that are asked after the laws."""

    path: str
    tests: tuple[str, ...]


EQUATION = Module("mechanics/equation.py", ("test_dynamics.py", "test_flexible.py"))
RIGID = Module("mechanics/platforms/rigid.py", ("test_dynamics.py",))
FLEXIBLE = Module("mechanics/platforms/flexible.py", ("test_flexible.py",))
FRICTION = Module("mechanics/friction.py", ("test_dynamics.py",))
UPS = Module("legs/ups/equations.py", ("test_kinematics.py", "test_dynamics.py"))
PUS = Module("legs/pus/equations.py", ("test_kinematics.py", "test_dynamics.py"))
RUS = Module("legs/rus/moving.py", ("test_rus.py", "test_dynamics.py"))
CHAIN = Module("legs/chain/dynamics.py", ("test_chains.py",))
POSTURE = Module("legs/chain/equations.py", ("test_chains.py",))
PROGRAMS = Module("model/derivative_programs.py", ("test_derivative_rules.py",))
RULES = Module("engine/passes/derivative.py", ("test_derivative_rules.py",))
OPERATIONS = Module("engine/operations.py", ("test_operation_table.py",))
LIMITS = Module("model/limits.py", ("test_limits.py", "test_chain_files.py"))

MUTATIONS: list[tuple[Module, str, str]] = [
    # the one equation
    (EQUATION, "across = platform.own(rubbing.push - load.sideways)", "across = platform.own(rubbing.push + load.sideways)"),
    (EQUATION, "along = load.along - rubbing.along\n    across", "along = load.along + rubbing.along\n    across"),
    (EQUATION, "forces, passed = forces + inner, passed + inner", "forces, passed = forces - inner, passed - inner"),
    (EQUATION, "still = platform.own(pushed) - at_ports(felt.inertia, platform.own(platform.tips.bias))", "still = platform.own(pushed)"),
    (EQUATION, "at_visible(platform, still) - terms.visible_bias,\n        ]", "at_visible(platform, still) + terms.visible_bias,\n        ]"),
    (EQUATION, "rest = (mirrored(whole)[:6] * found).sum(axis=1) - driven[:6]", "rest = (mirrored(whole)[:6] * found).sum(axis=1) + driven[:6]"),
    (EQUATION, "left = driven * scale - (whole * start).sum(axis=1)", "left = driven * scale"),
    (EQUATION, "return push, platform.world(wrench) if others else np.zeros((6, 1))", "return push, wrench if others else np.zeros((6, 1))"),
    # platforms
    (RIGID, "    bias = cross(omega, turning)\n    return Tips", "    bias = 0 * turning\n    return Tips"),
    (RIGID, "turned = matvec(rotation, turning) + cross(first_moment, felt)", "turned = matvec(rotation, turning) - cross(first_moment, felt)"),
    (RIGID, "bias - wrench + couple_wrench(couples)", "bias - wrench - couple_wrench(couples)"),
    (RIGID, "+ dot(v, cross(omega, here.first_moment))\n            + dot(omega, matvec(here.inertia, omega)) / 2", "+ dot(omega, matvec(here.inertia, omega)) / 2"),
    (FLEXIBLE, "bias=world.bias + 2 * cross(omega, deforming),", "bias=world.bias + cross(omega, deforming),"),
    (FLEXIBLE, "        + 2 * coriolis\n        - outward", "        + 2 * coriolis\n        + outward"),
    (FLEXIBLE, "spread = start + coupled(pairs.second_moments, elastic)", "spread = start + 0 * coupled(pairs.second_moments, elastic)"),
    (FLEXIBLE, "return acting, modal_force(self.modes, self.own(wrench)) - worked", "return acting, modal_force(self.modes, self.own(wrench)) + worked"),
    (FLEXIBLE, "        + coupled(pairs.damping, elastic_velocity)\n        + 2 * coriolis", "        + 2 * coriolis"),
    (FLEXIBLE, "angular_velocity=omega + twisting,", "angular_velocity=omega - twisting,"),
    # legs of kind UPS
    (UPS, "bent = np.stack([a[0] - 2 * growth * vx, a[1] - 2 * vy * growth])", "bent = np.stack([a[0] - 2 * growth * vx, a[1] - vy * growth])"),
    (UPS, "qd, qdd = dot(z3, velocity), q * (a[2] - spin.field[2, 2])", "qd, qdd = dot(z3, velocity), q * (a[2] + spin.field[2, 2])"),
    (UPS, "            + (sz + cz) * gx\n            - cx * gz", "            + (sz + cz) * gx\n            + cx * gz"),
    (UPS, "along = mass * pz + sx * uzx + swung - sz * (xx + yy) + leg.rotor_mass * self.qdd", "along = mass * pz + sx * uzx + swung - sz * (xx + yy)"),
    (UPS, "+ jxz * (twice_xy + kappa * (uzy - uyz))", "+ jxz * (twice_xy - kappa * (uzy - uyz))"),
    (UPS, "xx = (iyy * per_q + 2 * sz) * per_q + rod.mass", "xx = (iyy * per_q + sz) * per_q + rod.mass"),
    (UPS, "- rubbing.universal\n            - rubbing.couple,", "+ rubbing.universal\n            - rubbing.couple,"),
    # legs of kind PUS
    (PUS, "qdd = (at[2] + length * (rate[0] * rate[0] + rate[1] * rate[1])) * per_slope", "qdd = (at[2] + length * rate[0] * rate[0]) * per_slope"),
    (PUS, "along=pushed - along_axis * alpha - rail[1] * beta,", "along=pushed - along_axis * alpha + rail[1] * beta,"),
    (PUS, "result: Components = (-faster * my - square * mx) * axes[:, 0] + (", "result: Components = (-faster * my + square * mx) * axes[:, 0] + ("),
    (PUS, "bxq = (ax * sz - az * sx) * self.per_arm", "bxq = (ax * sz + az * sx) * self.per_arm"),
    (PUS, "(carried_mass + body.mass) * (self.qdd - dot(a, gravity))", "carried_mass * (self.qdd - dot(a, gravity))"),
    # legs of kind RUS
    (RUS, "+ (of.half_slope * qd) * (2 * rate - ka * qd)", "+ (of.half_slope * qd) * (2 * rate + ka * qd)"),
    (RUS, "- (of.half_slope + ka * of.mixed_slope) * (qd * qd)", "- of.half_slope * (qd * qd)"),
    (RUS, "crank_zz=leg.crank.inertia[2][2] + on_axis + mass * r * r,", "crank_zz=leg.crank.inertia[2][2] + on_axis,"),
    (RUS, "xz * by - yz * bx - mx * tx - my * ty,", "xz * by - yz * bx + mx * tx - my * ty,"),
    # chains
    (CHAIN, "moment = moment + matvec(joint.turned, turning) + cross(first, felt)", "moment = moment + matvec(joint.turned, turning)"),
    (CHAIN, "cross(omega, matvec(body.inertia, omega))", "0 * cross(omega, matvec(body.inertia, omega))"),
    (CHAIN, "moment = moment + cross(arm, force)\n        felt", "moment = moment - cross(arm, force)\n        felt"),
    (CHAIN, "found.append((mass * axis, cross(first, axis), joint.origin))", "found.append((mass * axis, cross(axis, first), joint.origin))"),
    (POSTURE, "accelerations = _product(follow, acceleration - bias)", "accelerations = _product(follow, acceleration)"),
    # friction
    (FRICTION, "drive=-(friction.slider_viscous + friction.motor_viscous) * qd - sliding * sense,", "drive=-(friction.slider_viscous + friction.motor_viscous) * qd + sliding * sense,"),
    (FRICTION, "friction.spherical_coulomb * loads.spherical * _direction(relative, width)", "friction.spherical_coulomb * loads.universal * _direction(relative, width)"),
    (FRICTION, "sense = qd / or_one(np.sqrt(qd * qd + width * width))", "sense = qd / or_one(np.abs(qd) + width)"),
    (FRICTION, "guide = np.abs(vectors[6]) + np.abs(vectors[7])", "guide = np.abs(vectors[6])"),
    (FRICTION, "universal=-friction.universal_viscous * omega", "universal=-friction.universal_viscous * relative"),
    # derivatives
    (PROGRAMS, 'turned = cross(change[3:], angular) if name == "pose" else change[3:]', 'turned = change[3:]'),
    (PROGRAMS, 'return found | {"wrench": -shared}', 'return found | {"wrench": shared}'),
    (PROGRAMS, 'found["pose"] = found["pose"] + shift', 'found["pose"] = found["pose"] - shift'),
    (PROGRAMS, "missing = loads - magnitudes(legs.load_vectors(reactions))", "missing = loads + magnitudes(legs.load_vectors(reactions))"),
    (PROGRAMS, "biases.append((found.n[:3] * bias).sum(axis=0) - found.second)", "biases.append((found.n[:3] * bias).sum(axis=0) + found.second)"),
    (PROGRAMS, "parts += [forces + shared[: len(forces)], shared[len(forces) : count]]", "parts += [forces - shared[: len(forces)], shared[len(forces) : count]]"),
    (RULES, "return (weight.coupled_by(~graph.leaves[number]),)", "return (weight.coupled_by(graph.leaves[number]),)"),
    (RULES, "                    part = part.over_modes()\n", "                    part = part * 1.0\n"),
    (OPERATIONS, "    per = 1 / b\n    return per, -y * per", "    per = 1 / b\n    return per, y * per"),
    (OPERATIONS, "return b * per_square, -a * per_square", "return b * per_square, a * per_square"),
    # limits
    (LIMITS, '(SHORTEST, -legs.q, -limits.shortest),', '(SHORTEST, -legs.q, limits.shortest),'),
    (LIMITS, '("speed", np.abs(legs.qd), limits.speed),', '("speed", legs.qd, limits.speed),'),
    (LIMITS, 'yield "force", np.abs(forces), limits.force', 'yield "force", forces, limits.force'),
    (LIMITS, "(-q, -one.shortest, \"stroke\", True),", "(-q, one.shortest, \"stroke\", True),"),
    (LIMITS, 'np.einsum("...ji,...lj->...li", motion.rotation, legs.direction)', 'np.einsum("...ij,...lj->...li", motion.rotation, legs.direction)'),
]  # fmt: skip
# ruff: noqa: E501


class Outcome(NamedTuple):
    """What the tests said of a mutation."""

    found_by: str
    """The test that failed first; empty where none did."""
    seconds: float
    """Processor time."""


def copied(folder: Path, commit: str | None = None) -> Path:
    """A copy of the tree as it is, or as it was at a commit."""
    tree = folder / (commit or "tree")
    tree.mkdir()
    if commit is None:
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
    else:
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x"], cwd=tree, input=archive.stdout, check=True)
    return tree


def changed(tree: Path, number: int) -> None:
    """Put the wrong line into a copy."""
    module, right, wrong = MUTATIONS[number]
    path = tree / "src" / "gough" / module.path
    text = path.read_text("utf-8")
    if text.count(right) != 1:
        raise ValueError(f"mutation {number}: {module.path} has {text.count(right)} × {right!r}")
    path.write_text(text.replace(right, wrong), "utf-8")


def tested(tree: Path, files: tuple[str, ...], tier: str) -> Outcome:
    """Run tests of a copy until the first that fails."""
    here = {
        "PYTHONPATH": str(tree / "src"),
        "GOUGH_CACHE": str(tree / "kernels"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    words = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-m", tier]
    ran = subprocess.Popen(
        [*words, *(f"tests/{one}" for one in files)], cwd=tree, env=os.environ | here,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )  # fmt: skip
    assert ran.stdout is not None
    said = ran.stdout.read()
    _, status, used = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    failed = [line.split()[1] for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    name = failed[0].removeprefix("tests/") if failed else ""
    if ran.returncode not in (0, NO_TESTS) and not name:
        name = f"exit {ran.returncode}: {said.strip().splitlines()[-1] if said.strip() else ''}"
    return Outcome(name, used.ru_utime + used.ru_stime)


def tried(number: int, old: str | None) -> list[Outcome]:
    """Ask the laws, then the module's files, then the old suite, until some test fails."""
    module, found = MUTATIONS[number][0], []
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        changed(tree, number)
        for files, tier in (
            ((LAWS,), "not second_tier"),
            (module.tests, "not second_tier"),
            ((LAWS, *module.tests), "second_tier"),
        ):
            found.append(tested(tree, files, tier))
            if found[-1].found_by:
                return found
        if old is not None:
            tree = copied(Path(folder), old)
            changed(tree, number)
            found.append(tested(tree, (".",)))
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="mutations to try; all by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--old", help="commit whose tests are asked where the new ones find nothing"
    )
    given = parser.parse_args()
    numbers = given.numbers or range(len(MUTATIONS))
    lost, total = 0, 0.0
    print("| no. | module | wrong line | found by | s |\n|---|---|---|---|---:|", flush=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        each = pool.map(lambda one: tried(one, given.old), numbers)
        for number, outcomes in zip(numbers, each, strict=True):
            module, _, wrong = MUTATIONS[number]
            seconds = sum(one.seconds for one in outcomes)
            steps = ("laws", "files", "second tier", "OLD SUITE ONLY")
            which = steps[len(outcomes) - 1]
            name = outcomes[-1].found_by
            lost += which == steps[3] or not name
            total += seconds
            line = " ".join(wrong.split()).replace("|", "\\|")
            said = f"{which}: {name}" if name else "NOT FOUND"
            print(f"| {number} | {module.path} | `{line}` | {said} | {seconds:.0f} |", flush=True)
    print(f"\n{len(numbers)} wrong lines, {lost} not found, {total:.0f} s of processor time")
    return lost


if __name__ == "__main__":
    sys.exit(main())
