"""A report: one HTML page about a robot, to send to a colleague or to print.

The page has drawings, geometry, masses, limits and the forces that hold the robot at home (and with
`motion=`, what a motion asks of every leg). A second page of our own says whether a drive is enough.
"""

import gough
from gough.show.page import Marked, Page
from gough.show.report import robot_page

robot = gough.load("kim-ryu-2002")

# Everything about the robot.
robot_page(robot).write("robot.html")

# A page of your own: any text, tables and matplotlib figures.
DRIVE = 85.0  # N, the force of the drive on offer
page = Page("Is the drive enough?", "HexaSlide, circle of 100 mm")
rows = []
peaks = {}
for rpm in (20, 40, 60):
    circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=rpm).sample(201)
    peaks[rpm] = abs(robot.inverse_dynamics(circle).forces).max()
    verdict = Marked("enough", "good") if peaks[rpm] < DRIVE else Marked("too weak", "bad")
    rows.append([str(rpm), f"{peaks[rpm]:.1f}", f"{DRIVE:.1f}", verdict])
    print(f"{rpm} rpm: peak force {peaks[rpm]:.1f} N of {DRIVE:.0f} N")
page.table(["speed [rpm]", "peak force [N]", "drive [N]", ""], rows)
page.write("drive.html")
print("robot.html, drive.html")

assert peaks[40] < DRIVE < peaks[60]  # 65 N and 88 N: the fastest circle needs a larger drive
