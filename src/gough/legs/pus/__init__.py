"""PUS legs: slider on a rail, universal joint, link, spherical joint."""

from gough.legs.leg import LegKind
from gough.legs.pus.equations import PUS, sliding_links
from gough.legs.pus.geometry import PUSGeometry
from gough.legs.pus.keys import PUSTable, beams, measurable, read
from gough.legs.pus.parameters import PUSParameters
from gough.legs.pus.recognise import recognise
from gough.legs.pus.shape import PUSShape
from gough.legs.pus.tolerances import PUSTolerances
from gough.legs.pus.tree import PUSTree
from gough.legs.pus.words import WORDS

KIND = LegKind(
    name="PUS",
    summary="slider on a rail, universal joint, link, spherical joint",
    numbers=PUS,
    keys=PUSTable,
    place="rail_origin",
    read=read,
    geometry=PUSGeometry(),
    parameters=PUSParameters(),
    sliding_links=sliding_links,
    tolerances=PUSTolerances(),
    shape=PUSShape(),
    tree=PUSTree(),
    words=WORDS,
    recognise=recognise,
    measurable=measurable,
    beams=beams,
)
