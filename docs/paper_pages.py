"""The papers reproduced, as pages: claims beside results, tables, figures.

Each page says in its first line from which state of the code it was made, and is made anew when
that changes (about a minute for all).
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from gough.base.files import replacing
from gough.show import reproduction

ROOT = Path(__file__).parents[1]


def fingerprint() -> str:
    """A hash of everything the papers' numbers come from."""
    total = hashlib.sha256(Path(__file__).read_bytes())
    for folder, ending in ((ROOT / "papers", "*.py"), (ROOT / "src", "*.[pt][yo]*")):
        for path in sorted(folder.rglob(ending)):
            if path.suffix in (".py", ".toml"):
                total.update(path.read_bytes())
    return total.hexdigest()[:16]


def write(folder: Path) -> None:
    """Make the pages that are missing or old."""
    state = fingerprint()
    for name in (*reproduction.NAMES, *reproduction.FURTHER):
        page = folder / f"{name}.md"
        if page.is_file() and page.read_text("utf-8").startswith(f"% {state}\n"):
            continue
        print(f"reproducing {name} …", file=sys.stderr, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the claims say what is odd about a paper's robot
            keep(folder, reproduction.run(name), state)


def keep(folder: Path, found: Sequence[reproduction.Reproduction], state: str) -> None:
    """Write page and figures of each reproduction."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        for item in one.figures:
            with replacing(folder / f"{one.name}-{item.name}.png") as temporary:
                temporary.write_bytes(item.png)
        with replacing(folder / f"{one.name}.md") as temporary:
            temporary.write_text(f"% {state}\n\n{page(one)}", "utf-8")


def page(one: reproduction.Reproduction) -> str:
    """The reproduction as Markdown."""
    parts = [f"# {plain(one.title)}", plain(one.source), "## Claims"]
    rows = [
        (item.claim, item.paper, item.ours, f"{item.verdict}: {item.reason}".rstrip(": "))
        for item in one.claims
    ]
    parts.append(table(("claim", "paper", "here", "verdict"), rows))
    if one.studies:
        asked = [(item.question, item.found) for item in one.studies]
        parts += ["## Beyond the paper", reproduction.BEYOND, table(("question", "found"), asked)]
    for numbers in one.tables:
        heading, _, more = numbers.caption.partition(". ")
        parts += [f"## {plain(heading)}", plain(more), table(numbers.header, numbers.rows)]
    parts.append("## Figures")
    for item in one.figures:
        caption = plain(item.caption)
        parts += [f"![{caption}]({one.name}-{item.name}.png)", f"*{caption}*"]
    parts += ["## Assumed and corrected", "\n".join(f"- {plain(note)}" for note in one.notes)]
    if one.items:
        listed = [(item.number, item.about, item.found) for item in one.items]
        parts += ["## Item by item", reproduction.ITEMS, table(("paper", "what", "here"), listed)]
    return "\n\n".join(parts) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(plain, cells))} |" for cells in lines)


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|$#{}])", r"\\\1", " ".join(text.split()))
