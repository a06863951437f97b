"""Nastran's bulk data, filtered: only cards of geometry and mass, and in them only names and numbers.

pyNastran understands more than data: a comment `$pyNastran: code-block=…` and DEQATN cards are run as
Python, INCLUDE reads any file. So it gets a text that is made here, card by card, and never the file.
"""

from __future__ import annotations

import os
import re

from gough.base.files import content
from gough.errors import FileError

LARGEST = 100.0
"""Of a .bdf file, MB."""
FRAMES = "CORD1R CORD1C CORD1S CORD2R CORD2C CORD2S"
ELEMENTS = (
    "CQUAD CQUAD4 CQUAD8 CQUADR CTRIA3 CTRIA6 CTRIAR CSHEAR CTETRA CPENTA CHEXA CPYRAM "
    "CBAR CBEAM CROD CTUBE CONROD CONM2 CBUSH CELAS1 CELAS2"
)
PROPERTIES = (
    "PSHELL PCOMP PCOMPG PSHEAR PSOLID PLSOLID PCOMPS "
    "PBAR PBARL PBEAM PBEAML PROD PTUBE PBUSH PELAS"
)
MATERIALS = "MAT1 MAT2 MAT3 MAT8 MAT9 MAT10 MAT11"
READ = frozenset(f"GRID {FRAMES} {ELEMENTS} {PROPERTIES} {MATERIALS}".split())
"""Cards that are handed on."""
_NOT_READ = (
    "GRDSET BAROR BEAMOR CONM1 CMASS1 CMASS2 CMASS3 CMASS4 CBEND CBEAM3 CTRIAX CTRIAX6 "
    "CTRAX3 CTRAX6 CQUADX CQUADX4 CQUADX8 CPLSTN3 CPLSTN4 CPLSTN6 CPLSTN8 CPLSTS3 CPLSTS4 "
    "CPLSTS6 CPLSTS8 CHEXCZ CPENTCZ CPYRAMCZ CORD3G CORD1SX PBCOMP PBMSECT PBRSECT PBEAM3 "
    "PBEND NSM NSM1 NSMADD NSML NSML1"
)
NOT_READ = frozenset(_NOT_READ.split())
"""Cards that have a say in geometry or mass, and are not understood."""
MOST_LINES = 20_000
"""Of a card."""
MOST_FRAMES = 10_000
"""Cards of coordinate systems."""
PLAIN = re.compile(r"[A-Z0-9 +\-*.,]*")


def bulk_data(path: str | os.PathLike[str]) -> str:
    """The cards of a .bdf file that say where its mass is, without comments; all else is left out."""
    try:
        text = content(path, ".bdf file", LARGEST).decode("latin-1").upper()
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"\s*BEGIN\b", line)]
    if len(starts) > 1:
        raise FileError(f"{path}: line {starts[1] + 1}: superelements are not read")
    bulk = starts[0] + 1 if starts else 0
    kept, wanted, frames, since = [], False, 0, 0
    for number, line in enumerate(lines, 1):
        card = line.partition("$")[0].expandtabs(8).rstrip()
        if not card:
            continue
        if card.lstrip().startswith("INCLUDE"):
            raise FileError(f"{path}: line {number}: INCLUDE is not followed; give one whole file")
        if number <= bulk:
            continue
        if card[0] not in " +*,":
            name = re.split(r"[\s,*]", card, maxsplit=1)[0]
            if name == "ENDDATA":
                break
            if name in NOT_READ:
                raise FileError(f"{path}: line {number}: {name} is not read")
            if name == "PARAM" and re.search(r"\bWTMASS[\s,]+(?![\s,]|1\.?0*$)", card):
                raise FileError(
                    f"{path}: line {number}: PARAM,WTMASS is not read; masses are in kg"
                )
            wanted, since = name in READ, number
            frames += name in FRAMES.split()
            if frames > MOST_FRAMES:
                raise FileError(f"{path}: over {MOST_FRAMES} coordinate systems")
        elif re.match(r" +[A-Z]", card[:8]):
            raise FileError(f"{path}: line {number}: {card[:40]!r} begins with a space")
        if not wanted:
            continue
        if number - since >= MOST_LINES:
            raise FileError(f"{path}: line {number}: a card of over {MOST_LINES} lines")
        if not PLAIN.fullmatch(card):
            raise FileError(
                f"{path}: line {number}: {card[:40]!r} is not a card of names and numbers"
            )
        kept.append(card)
    if not kept:
        raise FileError(f"{path}: no GRID points")
    return "\n".join([*kept, "ENDDATA", ""])
