"""Reproductions of papers: their claims beside ours, and their figures, as one page.

Each paper has a folder (in `papers/` of the repository, `gough/papers` once installed): a package with
a function `reproduce(progress) -> Reproduction`. `run` finds the papers, reproduces them and writes a
page that needs nothing but itself, with the figures beside it as PNG files.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure as Picture
from rich.console import Console
from rich.markup import escape as plain
from rich.table import Table

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.base.words import nearest
from gough.errors import FileError, InputError
from gough.show.page import Hyperlink, Mark, Marked, Page
from gough.show.style import picture

NAMES = (
    "kim-ryu-2002",
    "sinatra-xi-staicu-2009",
    "khalil-guegan-2004",
    "long-khalil-martinet-2014",
)
FURTHER = ("chablat-wenger-2003",)
"""Robots of the papers' families of which others print numbers."""
EVERY = "all"
EVERY_TITLE = "Papers on parallel robots, reproduced"

BEYOND = "Questions that the paper leaves open. They are ours, and no claims of the paper."
ITEMS = (
    "Every table, figure and equation of the paper, in its order. Tests are in the folder tests of the "
    "repository; “errata” is the page of that name in the documentation."
)

Verdict = Literal["agrees", "disagrees", "paper wrong", "paper incomplete", "not checkable"]
Progress = Callable[[str], None]
"""Told in a few words what is being done."""

COLORS: dict[Verdict, str] = {
    "agrees": "green",
    "disagrees": "red",
    "paper wrong": "yellow",
    "paper incomplete": "yellow",
    "not checkable": "bright_black",
}
MARKS: dict[Verdict, Mark] = {
    "agrees": "good",
    "disagrees": "bad",
    "paper wrong": "fair",
    "paper incomplete": "fair",
    "not checkable": "quiet",
}


@dataclass(frozen=True)
class Claim:
    """One statement of a paper and what came out here."""

    claim: str
    paper: str
    """What the paper says, in its words or numbers."""
    ours: str
    """What was computed."""
    verdict: Verdict
    reason: str = ""
    """Why, in a line."""


@dataclass(frozen=True)
class Study:
    """A question of ours that the paper leaves open, and what was found: no claim of the paper."""

    question: str
    found: str


@dataclass(frozen=True)
class Item:
    """A table, figure, equation or numbered result of a paper, and where it is found here."""

    number: str
    """As the paper counts: "Table II", "Fig. 7", "Eqs. 8–10"."""
    about: str
    found: str
    """A claim, table, figure or test of this project, or why it is not here."""


@dataclass(frozen=True)
class Figure:
    """A figure with its caption; `name` is that of its PNG file."""

    name: str
    caption: str
    figure: Picture

    @cached_property
    def png(self) -> bytes:
        """Drawn once for the page's folder and for the documentation."""
        return picture(self.figure, "png")


@dataclass(frozen=True)
class NumberTable:
    """A table of numbers, the paper's beside ours, as text."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Reproduction:
    """All that was made of a paper."""

    name: str
    """As in `NAMES` or `FURTHER`."""
    title: str
    source: str
    claims: Sequence[Claim]
    figures: Sequence[Figure]
    notes: Sequence[str]
    """What was assumed, and what the paper gets wrong."""
    tables: Sequence[NumberTable] = ()
    studies: Sequence[Study] = ()
    items: Sequence[Item] = ()
    """All that the paper numbers, in its order."""


def quiet(message: str) -> None:
    """A progress that says nothing."""


def run(
    name: str, folder: str | os.PathLike[str] | None = None, progress: Progress = quiet
) -> list[Reproduction]:
    """Reproduce a paper of `NAMES` or `FURTHER`, or "all".

    With a folder, made if need be, the page is written as folder/name.html and the figures as
    folder/figures/paper-figure.png.
    """
    if name not in (*NAMES, *FURTHER, EVERY):
        near = nearest(name, (*NAMES, *FURTHER, EVERY))
        raise InputError(f"no reproduction of {name!r}; the nearest is {near!r}")
    if folder is not None:
        _ready(folder)  # a wrong name is worth knowing before minutes of work
    papers = [load_paper(one) for one in ((*NAMES, *FURTHER) if name == EVERY else (name,))]
    found: list[Reproduction] = [paper.reproduce(progress) for paper in papers]
    if folder is not None:
        progress("writing the page")
        write(found, folder, name)
    return found


def load_paper(name: str) -> Any:
    """The package of a paper: from the installation, else from beside it in the repository."""
    stem = name.replace("-", "_")
    installed = Path(str(resources.files("gough")))
    for folder in (installed, installed.parents[1]):
        start = folder / "papers" / stem / "__init__.py"
        if start.is_file():
            return _package(f"gough_papers_{stem}", start)
    raise FileError(f"papers/{stem}: the reproduction of {name} is missing from this installation")


def _package(name: str, start: Path) -> Any:
    """The package that starts in a file, imported once."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, start)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where the package's own files look for it
    spec.loader.exec_module(module)
    return module


def number(value: float, form: str = ".0e") -> str:
    """A number for people: −0.45, 2·10⁻¹⁴."""
    digits, _, power = f"{value:{form}}".replace("-", "−").partition("e")
    if not power:
        return digits
    raised = str(int(power.replace("−", "-"))).translate(
        str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    )
    return f"{digits}·10{raised}"


def rms(values: Array) -> float:
    """Root of the mean square of all values."""
    return float(np.sqrt(np.mean(values**2)))


def relative_error(found: Array, right: Array) -> float:
    """Largest difference over the largest right number."""
    return float(np.max(np.abs(found - right)) / np.max(np.abs(right)))


def write(reproductions: Sequence[Reproduction], folder: str | os.PathLike[str], name: str) -> Path:
    """Write folder/name.html and the PNG figures; returns the page's path."""
    target = _ready(folder)
    for one in reproductions:
        for figure in one.figures:
            with replacing(target / "figures" / f"{one.name}-{figure.name}.png") as temporary:
                temporary.write_bytes(figure.png)
    path = target / f"{name}.html"
    with replacing(path) as temporary:
        temporary.write_text(page(reproductions), "utf-8")
    return path


def _ready(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if need be, with room for figures."""
    target = Path(folder)
    try:
        (target / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: {error.strerror}") from None
    return target


def page(reproductions: Sequence[Reproduction]) -> str:
    """One HTML page with everything inside it."""
    if len(reproductions) == 1:
        whole = Page(reproductions[0].title, reproductions[0].source)
        _fill(whole, reproductions[0])
        return whole.html()
    whole = Page(EVERY_TITLE)
    whole.points([Hyperlink(one.title, f"#{one.name}", tally(one)) for one in reproductions])
    for one in reproductions:
        whole.chapter(one.title, one.name, one.source)
        _fill(whole, one)
    return whole.html()


def _fill(whole: Page, one: Reproduction) -> None:
    whole.heading("Claims")
    whole.text(tally(one))
    rows = [
        (item.claim, item.paper, item.ours, Marked(item.verdict, MARKS[item.verdict], item.reason))
        for item in one.claims
    ]
    whole.table(("Claim", "Paper", "Here", "Verdict"), rows, widths=(24, 19, 33, 24))
    if one.studies:
        whole.heading("Beyond the paper")
        whole.text(BEYOND)
        studies = [(item.question, item.found) for item in one.studies]
        whole.table(("Question", "Found"), studies, widths=(35, 65))
    if one.tables:
        whole.heading("Tables")
    for table in one.tables:
        whole.table(table.header, table.rows, table.caption)
    whole.heading("Figures")
    for item in one.figures:
        whole.figure(item.figure, item.caption)
    whole.heading("Assumed and corrected")
    whole.points(one.notes)
    if one.items:
        whole.heading("Item by item")
        listed = [(item.number, item.about, item.found) for item in one.items]
        whole.table(("In the paper", "What it is", "Here"), listed, ITEMS, widths=(14, 40, 46))


def tally(one: Reproduction) -> str:
    """How many claims have which verdict."""
    verdicts = [item.verdict for item in one.claims]
    counts = [f"{kind} {verdicts.count(kind)}" for kind in COLORS if kind in verdicts]
    return f"{len(verdicts)} claims: {', '.join(counts)}"


def print_claims(one: Reproduction, console: Console) -> None:
    """A table of claim, paper, ours and verdict in the terminal, and the tables of numbers."""
    table = Table(title=one.title, caption=tally(one), title_style="bold", show_lines=True)
    for heading in ("claim", "paper", "ours", "verdict"):
        table.add_column(heading, overflow="fold", ratio=1)
    for item in one.claims:
        verdict = f"[{COLORS[item.verdict]}]{item.verdict}[/]\n{plain(item.reason)}"
        table.add_row(*map(plain, (item.claim, item.paper, item.ours)), verdict.rstrip())
    console.print(table)
    for study in one.studies:
        console.print(f"[bold]{plain(study.question)}[/bold] {plain(study.found)}", highlight=False)
    for numbers in one.tables:
        table = Table(caption=plain(numbers.caption), caption_justify="left")
        for heading in numbers.header:
            table.add_column(plain(heading), justify="right")
        for cells in numbers.rows:
            table.add_row(*map(plain, cells))
        console.print(table)
