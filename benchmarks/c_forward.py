"""Forward kinematics in C on random reachable poses: how near, how often refused, how fast.

    python benchmarks/c_forward.py [poses] [robot ...]

Poses are drawn around home, as far as half the platform's size and 0.4 rad in every coordinate; those
that legs cannot reach are left out. q comes from gough's inverse kinematics, the guess is a pose up to a
twentieth of that away (the pose of the last cycle), and home. Agreement is of the pose: m, and rad by R.
Where a singular pose lies between guess and pose, the posture on the guess's side is the answer.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.engine.emit.c import sanitised
from gough.exchange.c import export_c

ROBOTS = [
    "dietmaier-1998",
    "kim-ryu-2002",
    "pollen-reachy-mini-2025",
    "alikoc-delta-2023",
    "shyam-heliostat-2017",
    "shah-3rrr-2012",
    "ferrandiz-3ups-rpu-2021",
    "zoppi-exechon-2010",
]
NAMES = ("x", "y", "z", "rx", "ry", "rz")
DRIVER = """
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "PREFIX.h"
#define WIDTH (12 + 12 + CHAINS + ACTUATORS + 1)

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words)
{
    long rows = atol(words[1]), i, codes[3] = {0, 0, 0}, beyond = 0, other = 0;
    int j, most = 0;
    double *all = malloc(rows * WIDTH * sizeof(double)), worst = 0, spent = 0, longest = 0, steps = 0;
    (void)count;
    if (fread(all, WIDTH * sizeof(double), rows, stdin) != (size_t)rows)
        return 1;
    for (i = 0; i < rows; i++) {
        const double *row = all + i * WIDTH;
        PREFIX_state guess;
        PREFIX_forward_kinematics_answer answer;
        double error = 0, begin, took;
        int code;
        memset(&guess, 0, sizeof guess);
        memcpy(guess.position, row + 12, sizeof guess.position);
        memcpy(guess.rotation, row + 15, sizeof guess.rotation);
#if CHAINS
        memcpy(guess.chains, row + 24, sizeof guess.chains);
#endif
        begin = seconds();
        code = PREFIX_forward_kinematics(&guess, row + 24 + CHAINS, CAPITAL_STEPS, &answer);
        took = seconds() - begin;
        spent += took;
        longest = fmax(longest, took);
        codes[code]++;
        if (code)
            continue;
        steps += answer.steps;
        most = answer.steps > most ? answer.steps : most;
        for (j = 0; j < 3; j++)
            error = fmax(error, fabs(answer.position[j] - row[j]));
        for (j = 0; j < 9; j++)
            error = fmax(error, fabs((&answer.rotation[0][0])[j] - row[3 + j]));
        if (error > 1e-6 && row[WIDTH - 1])
            beyond++; /* the same q, a posture on this side of a singularity */
        else if (error > 1e-6)
            other++; /* the same q, another posture on this side */
        else
            worst = fmax(worst, error);
    }
    printf("%ld agree to %.1e, %ld not converged, %ld doubtful, %ld beyond a singular pose, "
        "%ld other postures; %.2f us a call (longest %.0f), steps %.2f, most %d\\n",
        codes[0] - beyond - other, worst, codes[2], codes[1], beyond, other, 1e6 * spent / rows,
        1e6 * longest, steps / codes[0], most);
    return 0;
}
"""


def at(robot: gough.Robot, u: np.ndarray) -> gough.Motion:
    """Poses at coordinates away from home; NaN where there are none."""
    home = robot.home
    if robot.mobility == 6:
        turn = Rotation.from_rotvec(u[:, 3:]).as_matrix() @ home.rotation
        return gough.Motion(home.position + u[:, :3], turn)
    given = [NAMES.index(name) for name in robot.coordinates]
    start = np.concatenate([home.position, np.zeros(3)])
    return robot.motion((start + u)[:, given], on_error="nan")


def side(robot: gough.Robot, motion: gough.Motion) -> np.ndarray:
    """Sign of det J along the coordinates: it changes where a pose is singular."""
    J = robot.jacobian(motion, on_error="nan")
    if robot.mobility < 6:
        given = [NAMES.index(name) for name in robot.coordinates]
        home = np.concatenate([robot.home.position, np.zeros(3)])
        turn = Rotation.from_matrix(motion.rotation @ robot.home.rotation.T).as_rotvec()
        u = np.concatenate([motion.position - home[:3], turn], axis=1)
        columns = []
        for unit in np.eye(robot.mobility):
            moving = robot.motion((home + u)[:, given], unit, on_error="nan")
            columns.append(np.concatenate([moving.velocity, moving.angular_velocity], axis=1))
        J = J @ np.stack(columns, axis=-1)
    square = J if J.shape[1] == J.shape[2] else np.swapaxes(J, 1, 2) @ J
    return np.sign(np.linalg.det(square))


def poses(
    robot: gough.Robot, count: int, rng: np.random.Generator
) -> tuple[gough.Motion, gough.Motion]:
    """Reachable poses around home, and others near by, where the platform was before."""
    size = np.repeat([0.5 * robot.length_scale, 0.4], 3)
    found, before, have = [], [], 0
    while have < count:
        draws = rng.uniform(-1, 1, (count, 6)) * size
        wanted = at(robot, draws)
        last = at(robot, draws + 0.05 * size * rng.uniform(-1, 1, (count, 6)))
        good = np.ones(count, dtype=bool)
        for motion in (wanted, last):
            good &= np.isfinite(robot.inverse_kinematics(motion, on_error="nan").q).all(axis=1)
        if not good.any():
            raise SystemExit(f"{robot.name}: no pose is reachable")
        found.append(wanted[good])
        before.append(last[good])
        have += good.sum()
    whole = [
        [np.concatenate([getattr(m, n) for m in some])[:count] for n in ("position", "rotation")]
        for some in (found, before)
    ]
    return gough.Motion(*whole[0]), gough.Motion(*whole[1])


def rows_of(robot: gough.Robot, wanted: gough.Motion, guess: gough.Motion) -> np.ndarray:
    """Pose, guess, its chains, q, whether a singular pose lies between: a row each."""
    count = len(wanted.position)
    q = robot.inverse_kinematics(wanted).q
    chains = np.broadcast_to(robot.chains_of(guess), (count, robot.mechanism.legs.coordinates))
    beyond = side(robot, wanted) != side(robot, guess if guess.shape else guess.reshape(1))
    return np.concatenate(
        [
            wanted.position, wanted.rotation.reshape(count, 9),
            np.broadcast_to(guess.position, (count, 3)),
            np.broadcast_to(guess.rotation, (count, 3, 3)).reshape(count, 9), chains, q,
            beyond[:, np.newaxis],
        ], axis=1,
    )  # fmt: skip


def main() -> None:
    """Run and print."""
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    count = int(words[0]) if words else 100_000
    for name in words[1:] or ROBOTS:
        robot, rng = gough.load(name), np.random.default_rng(0)
        prefix = f"gough_{sanitised(robot.name)}"
        with tempfile.TemporaryDirectory() as temporary:
            folder = export_c(robot, Path(temporary) / "c", programs=["forward_kinematics"])
            text = DRIVER.replace("PREFIX", prefix).replace("CAPITAL", prefix.upper())
            text = text.replace("ACTUATORS", str(robot.actuator_count))
            text = text.replace("CHAINS", str(robot.mechanism.legs.coordinates))
            (folder / "driver.c").write_text(text)
            built = ["cc", "-O2", "driver.c", f"{prefix}.c", "-o", "driver", "-lm"]
            subprocess.run(built, cwd=folder, check=True)
            wanted, last = poses(robot, count, rng)
            print(name)
            for label, guess in (("last pose", last), ("home", robot.home)):
                data = rows_of(robot, wanted, guess).tobytes()
                ran = subprocess.run(
                    [folder / "driver", str(count)], input=data, capture_output=True, check=True
                )
                print(f"  from {label}: {ran.stdout.decode().strip()}", flush=True)


if __name__ == "__main__":
    main()
