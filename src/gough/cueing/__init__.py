"""Motion cueing: a vehicle's accelerations and turn rates as motions that a platform can make.

felt = cue(robot, read_vehicle("drive.csv"), scale=0.7)
write_motion(felt.motion, "motion.csv")
"""

from gough.cueing.cues import Cued, Cueing, cue
from gough.cueing.manoeuvres import flight_turn, lane_change
from gough.cueing.predictive import Predictive
from gough.cueing.vehicle import Vehicle, read_vehicle
from gough.cueing.vestibular import Sensation
from gough.cueing.washout import Washout
from gough.cueing.washout_c import export_washout

__all__ = [
    "Cued",
    "Cueing",
    "Predictive",
    "Sensation",
    "Vehicle",
    "Washout",
    "cue",
    "export_washout",
    "flight_turn",
    "lane_change",
    "read_vehicle",
]
