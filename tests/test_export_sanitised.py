"""Exported C under address and undefined-behaviour sanitizers, with extremes and NaN in every field."""

import pytest

import gough
from cases.exported import COMPILER, run
from gough.engine.emit.c import sanitised
from gough.exchange.c import export_c

pytestmark = pytest.mark.second_tier
FLAGS = ["-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
DRIVER = """
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include "PREFIX.h"

static uint64_t word = 88172645463325252u;
static uint64_t next(void) { word ^= word << 13; word ^= word >> 7; word ^= word << 17; return word; }
static REAL extreme(void)
{
    static const REAL known[] = {0, -0.0, 1, -1, 1e-320, 1e-9, 1e9, 1e19, 1e59, 1e61, 1e160, -1e160,
                                 1e308, NAN, INFINITY, -INFINITY};
    return known[next() % (sizeof known / sizeof *known)];
}

int main(void)
{
    static const REAL home[12] = {HOME};
    unsigned long healthy = 0, i;
    for (i = 0; i < CASES; i++) {
        PREFIX_state state;
        PREFIX_inverse_dynamics_answer answer;
        REAL wrench[6] = {0}, *field = (REAL *)&state;
        size_t j;
        memset(&state, 0, sizeof state);
        memcpy(state.position, home, sizeof state.position);
        memcpy(state.rotation, home + 3, sizeof state.rotation);
        for (j = 0; j < 3; j++) state.velocity[j] = (REAL)(next() % 1000) / 1000;
        for (j = i % 4; j > 0; j--) field[next() % (sizeof state / sizeof *field)] = extreme();
        if (i % 5 == 0) wrench[next() % 6] = extreme();
        if (PREFIX_inverse_dynamics(&state, i % 7 ? wrench : NULL, &answer) != GOUGH_HEALTHY) continue;
        healthy++;
        for (j = 0; j < 6; j++)
            if (!isfinite(answer.forces[j]) || !isfinite(answer.power[j])) {
                printf("case %lu: healthy, and not finite\\n", i);
                return 1;
            }
    }
    printf("%lu healthy\\n", healthy);
    return 0;
}
"""


FORWARD = """
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "PREFIX.h"
EXTREME
int main(void)
{
    static const REAL home[12] = {HOME}, at_home[] = {Q};
    unsigned long healthy = 0, i;
    for (i = 0; i < CASES; i++) {
        PREFIX_state state;
        PREFIX_forward_kinematics_answer answer;
        REAL q[sizeof at_home / sizeof *at_home], *field = (REAL *)&state;
        size_t j;
        int most = (int)(next() % 30) - 2;
        memset(&state, 0, sizeof state);
        memcpy(state.position, home, sizeof state.position);
        memcpy(state.rotation, home + 3, sizeof state.rotation);
        memcpy(q, at_home, sizeof q);
        for (j = 0; j < sizeof q / sizeof *q; j++) q[j] += 1e-5 * (REAL)(next() % 1000);
        for (j = i % 3; j > 0; j--) field[next() % (sizeof state / sizeof *field)] = extreme();
        if (i % 4 == 0) q[next() % (sizeof q / sizeof *q)] = extreme();
        if (PREFIX_forward_kinematics(&state, q, most, &answer) != GOUGH_HEALTHY) continue;
        healthy++;
        for (j = 0; j < 9; j++)
            if (!isfinite((&answer.rotation[0][0])[j]) || !isfinite(answer.position[j % 3])) {
                printf("case %lu: healthy, and not finite\\n", i);
                return 1;
            }
    }
    printf("%lu healthy\\n", healthy);
    return 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["alikoc-delta-2023", "shyam-heliostat-2017"])
def test_no_guess_is_undefined_behaviour(name, tmp_path, on_numpy):
    robot = gough.load(name)
    start = DRIVER.index("static uint64_t word")
    extremes = "#include <stdint.h>\n" + DRIVER[start : DRIVER.index("int main")]
    q = robot.inverse_kinematics(robot.home).q
    text = FORWARD.replace("EXTREME", extremes).replace(
        "Q}", ", ".join(map(repr, q.tolist())) + "}"
    )
    assert healthy(robot, "forward_kinematics", text, 3000, tmp_path) > 500


def healthy(robot, program, text, cases, folder, real="double"):
    """How many cases of a driver are healthy under the sanitizers."""
    prefix = f"gough_{sanitised(robot.name)}"
    export_c(robot, folder / "c", programs=[program], real=real)
    numbers = [*robot.home.position, *robot.home.rotation.ravel()]
    text = text.replace("PREFIX", prefix).replace("CASES", str(cases)).replace("REAL", real)
    text = text.replace("HOME", ", ".join(repr(float(x)) for x in numbers))
    (folder / "c" / "driver.c").write_text(text)
    sources = [folder / "c" / f"{prefix}.c", folder / "c" / "driver.c"]
    built = run(COMPILER, *FLAGS, *sources, "-o", folder / "driver", "-lm")
    if built.returncode and "cannot find" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    found = run(folder / "driver")
    assert found.returncode == 0, found.stdout + found.stderr
    return int(found.stdout.split()[0])


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize(
    ("name", "real"),
    [("kim-ryu-2002", "double"), ("pollen-reachy-mini-2025", "double"), ("kim-ryu-2002", "float")],
)
def test_no_state_is_undefined_behaviour(name, real, tmp_path):
    assert healthy(gough.load(name), "inverse_dynamics", DRIVER, 20000, tmp_path, real) > 4000
