"""PUS legs: slider on a rail, universal joint, link, spherical joint."""

from gough.legs.leg import LegKind
from gough.legs.pus.equations import PUS
from gough.legs.pus.geometry import PUSGeometry
from gough.legs.pus.keys import PUSTable, read
from gough.legs.pus.parameters import PUSParameters
from gough.legs.pus.shape import PUSShape
from gough.legs.pus.tolerances import PUSTolerances
from gough.legs.pus.words import WORDS


def itself(legs: PUS) -> PUS:
    """PUS legs are links on sliders as they are."""
    return legs


KIND = LegKind(
    name="PUS",
    summary="slider on a rail, universal joint, link, spherical joint",
    numbers=PUS,
    keys=PUSTable,
    place="rail_origin",
    read=read,
    geometry=PUSGeometry(),
    parameters=PUSParameters(),
    on_rails=itself,
    tolerances=PUSTolerances(),
    shape=PUSShape(),
    words=WORDS,
)
