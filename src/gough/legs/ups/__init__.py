"""UPS legs: universal joint, telescope, spherical joint."""

from gough.legs.leg import LegKind
from gough.legs.ups.equations import UPS, telescopes
from gough.legs.ups.geometry import UPSGeometry
from gough.legs.ups.keys import UPSTable, beams, measurable, read
from gough.legs.ups.parameters import UPSParameters
from gough.legs.ups.recognise import recognise
from gough.legs.ups.shape import UPSShape
from gough.legs.ups.tolerances import UPSTolerances
from gough.legs.ups.tree import UPSTree
from gough.legs.ups.words import WORDS

KIND = LegKind(
    name="UPS",
    summary="universal joint, telescope, spherical joint",
    numbers=UPS,
    keys=UPSTable,
    place="base",
    read=read,
    geometry=UPSGeometry(),
    parameters=UPSParameters(),
    tolerances=UPSTolerances(),
    shape=UPSShape(),
    tree=UPSTree(),
    words=WORDS,
    recognise=recognise,
    measurable=measurable,
    beams=beams,
    zeroed=False,
    telescopes=telescopes,
)
