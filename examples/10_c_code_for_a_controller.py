"""The robot's equations as C99, compiled and called.

The export needs nothing but math.h, allocates nothing, and brings its own test.
"""

import shutil
import subprocess
from pathlib import Path

import gough

robot = gough.load("kim-ryu-2002")
folder = robot.export_c("kim", programs=["inverse_kinematics", "inverse_dynamics"])
files = sorted(path.name for path in Path(folder).iterdir())
print(*files)

compiler = shutil.which("cc") or shutil.which("gcc")
if compiler and shutil.which("make"):
    command = ["make", "--no-print-directory", "-C", str(folder), "test"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(done.stdout)
    assert "largest relative error" in done.stdout
else:
    print("no C compiler here")

assert any(name.endswith(".h") for name in files)
