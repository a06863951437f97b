"""Chains: any serial leg, given by its joints as it stands at home."""

from gough.legs.chain.equations import Chain
from gough.legs.chain.geometry import ChainGeometry
from gough.legs.chain.keys import ChainTable, measurable
from gough.legs.chain.parameters import ChainParameters
from gough.legs.chain.read import ChainReader, read
from gough.legs.chain.recognise import recognise
from gough.legs.chain.shape import ChainShape
from gough.legs.chain.tolerances import ChainTolerances
from gough.legs.chain.tree import ChainTree
from gough.legs.chain.words import WORDS
from gough.legs.leg import LegKind

KIND = LegKind(
    name="chain",
    summary="any joints in a row",
    numbers=Chain,
    keys=ChainTable,
    place="position",
    read=read,
    geometry=ChainGeometry(),
    parameters=ChainParameters(),
    tolerances=ChainTolerances(),
    shape=ChainShape(),
    tree=ChainTree(),
    words=WORDS,
    recognise=recognise,
    any_leg=True,
    measurable=measurable,
    reader=ChainReader,
)
