"""RUS legs: crank on a motor, universal joint, link, spherical joint."""

from gough.legs.leg import LegKind
from gough.legs.rus.equations import RUS
from gough.legs.rus.geometry import RUSGeometry
from gough.legs.rus.keys import RUSTable, beams, measurable, read
from gough.legs.rus.parameters import RUSParameters
from gough.legs.rus.recognise import recognise
from gough.legs.rus.shape import RUSShape
from gough.legs.rus.tolerances import RUSTolerances
from gough.legs.rus.tree import RUSTree
from gough.legs.rus.words import WORDS
from gough.legs.units import ROTARY

KIND = LegKind(
    name="RUS",
    summary="crank on a motor, universal joint, link, spherical joint",
    numbers=RUS,
    keys=RUSTable,
    place="motor",
    read=read,
    geometry=RUSGeometry(),
    parameters=RUSParameters(),
    tolerances=RUSTolerances(),
    shape=RUSShape(),
    tree=RUSTree(),
    words=WORDS,
    recognise=recognise,
    measurable=measurable,
    beams=beams,
    units=ROTARY,
)
