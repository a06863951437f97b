"""Reproductions of papers: their claims beside ours, and their figures, as one page.

Each paper has a script (`papers/` of the repository, `gough/papers` once installed) with a function
`reproduce(progress) -> Reproduction`. `run` finds the scripts, runs them and writes a page that
needs nothing but itself, with the figures beside it as PNG files.
"""

from __future__ import annotations

import base64
import difflib
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import MaxNLocator
from rich.console import Console
from rich.markup import escape as plain
from rich.table import Table

from gough import __version__, plots
from gough.errors import FileError, InputError
from gough.files import replacing
from gough.motion import Array

NAMES = (
    "kim-ryu-2002",
    "sinatra-xi-staicu-2009",
    "khalil-guegan-2004",
    "long-khalil-martinet-2014",
)
EVERY = "all"
PNG_DPI = 160

Verdict = Literal["agrees", "disagrees", "paper wrong", "not checkable"]
Progress = Callable[[str], None]
"""Told in a few words what is being done."""

COLORS: dict[Verdict, str] = {
    "agrees": "green",
    "disagrees": "red",
    "paper wrong": "yellow",
    "not checkable": "bright_black",
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
class Figure:
    """A figure with its caption; `name` is that of its PNG file."""

    name: str
    caption: str
    figure: Picture


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
    """As in `NAMES`."""
    title: str
    source: str
    claims: Sequence[Claim]
    figures: Sequence[Figure]
    notes: Sequence[str]
    """What was assumed, and what the paper gets wrong."""
    tables: Sequence[NumberTable] = ()


def quiet(message: str) -> None:
    """A progress that says nothing."""


def run(
    name: str, folder: str | os.PathLike[str] | None = None, progress: Progress = quiet
) -> list[Reproduction]:
    """Reproduce a paper of `NAMES`, or "all".

    With a folder, made if need be, the page is written as folder/name.html and the figures as
    folder/figures/paper-figure.png.
    """
    if name not in (*NAMES, EVERY):
        near = difflib.get_close_matches(name, (*NAMES, EVERY), 1, cutoff=0.0)[0]
        raise InputError(f"no reproduction of {name!r}; the nearest is {near!r}")
    scripts = [load_script(one) for one in (NAMES if name == EVERY else (name,))]
    found: list[Reproduction] = [script.reproduce(progress) for script in scripts]
    if folder is not None:
        progress("writing the page")
        write(found, folder, name)
    return found


def run_script(name: str, reproduce: Callable[[Progress], Reproduction]) -> None:
    """A paper's script as a program: print the claims, write the page if a folder is given."""
    found = reproduce(lambda message: print(f"{name}: {message}", file=sys.stderr))
    print_claims(found, Console())
    for folder in sys.argv[1:2]:
        print(write([found], folder, name))


def load_script(name: str) -> Any:
    """The script of a paper as a module: from the package, else from beside it in the repository."""
    stem = name.replace("-", "_")
    package = Path(str(resources.files("gough")))
    for folder in (package, package.parents[1]):
        path = folder / "papers" / f"{stem}.py"
        spec = importlib.util.spec_from_file_location(f"gough_papers_{stem}", path)
        if path.is_file() and spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise FileError(f"papers/{stem}.py: the script of {name} is missing from this installation")


def number(value: float, form: str = ".0e") -> str:
    """A number for people: −0.45, 2·10⁻¹⁴."""
    digits, _, power = f"{value:{form}}".replace("-", "−").partition("e")
    if not power:
        return digits
    raised = str(int(power.replace("−", "-"))).translate(
        str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    )
    return f"{digits}·10{raised}"


def leg_panels(
    time: Array, panels: Sequence[tuple[str, Array, str]], labels: Sequence[str]
) -> Picture:
    """Panels (title, curves (n, legs), axis label with unit) above each other over time in s."""
    with matplotlib.rc_context(plots.STYLE):
        figure = Picture(figsize=(7.5, 0.7 + 2.4 * len(panels)), layout="constrained")
        rows = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (title, curves, ylabel) in zip(rows, panels, strict=True):
            for i, (curve, label) in enumerate(zip(curves.T, labels, strict=True)):
                style = "-" if i < 3 else (0, (4, 2))
                axes.plot(time, curve, color=plots.PALETTE[i], linestyle=style, label=label)
            axes.set_title(title, loc="left", fontsize=10)
            axes.set(ylabel=ylabel)
            axes.yaxis.set_major_locator(MaxNLocator(6))
            axes.margins(x=0)
        rows[-1].set_xlabel("time [s]")
        figure.align_ylabels()
        figure.legend(handles=rows[0].get_lines(), loc="outside right center")
    return figure


def write(reproductions: Sequence[Reproduction], folder: str | os.PathLike[str], name: str) -> Path:
    """Write folder/name.html and the PNG figures; returns the page's path."""
    target = Path(folder)
    try:
        (target / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: {error.strerror}") from None
    for one in reproductions:
        for figure in one.figures:
            with replacing(target / "figures" / f"{one.name}-{figure.name}.png") as temporary:
                temporary.write_bytes(picture(figure.figure, "png"))
    path = target / f"{name}.html"
    with replacing(path) as temporary:
        temporary.write_text(page(reproductions), "utf-8")
    return path


def page(reproductions: Sequence[Reproduction]) -> str:
    """One HTML page with everything inside it."""
    title, head = reproductions[0].title, ""
    if len(reproductions) > 1:
        title = "Papers on parallel robots, reproduced"
        links = "".join(
            f'<li><a href="#{one.name}">{escape(one.title)}</a>: {_tally(one)}</li>'
            for one in reproductions
        )
        head = f"<h1>{title}</h1><ul>{links}</ul>"
    body = head + "".join(_section(one) for one in reproductions)
    return PAGE.format(title=escape(title), style=STYLE, body=body, made=__version__)


def _section(one: Reproduction) -> str:
    rows = "".join(
        f"<tr><td>{escape(item.claim)}</td><td>{escape(item.paper)}</td>"
        f"<td>{escape(item.ours)}</td><td><span class='{item.verdict.replace(' ', '-')}'>"
        f"{item.verdict}</span><br>{escape(item.reason)}</td></tr>\n"
        for item in one.claims
    )
    figures = "".join(
        f'<figure><img alt="{escape(item.caption)}" src="data:image/svg+xml;base64,'
        f'{base64.b64encode(picture(item.figure, "svg")).decode()}">'
        f"<figcaption>{escape(item.caption)}</figcaption></figure>\n"
        for item in one.figures
    )
    tables = "".join(_html_table(item) for item in one.tables)
    return SECTION.format(
        name=one.name,
        title=escape(one.title),
        source=escape(one.source),
        tally=_tally(one),
        rows=rows,
        tables=f"<h2>Tables</h2>\n{tables}" if tables else "",
        figures=figures,
        notes="".join(f"<li>{escape(note)}</li>" for note in one.notes),
    )


def _html_table(table: NumberTable) -> str:
    def row(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{escape(one)}</{kind}>' for one in cells)}</tr>\n"

    body = "".join(row(cells, "td") for cells in table.rows)
    return (
        f'<figure><table class="numbers"><thead>{row(table.header, "th")}</thead>'
        f"<tbody>{body}</tbody></table><figcaption>{escape(table.caption)}</figcaption></figure>\n"
    )


def _tally(one: Reproduction) -> str:
    """How many claims have which verdict."""
    verdicts = [item.verdict for item in one.claims]
    counts = [f"{kind} {verdicts.count(kind)}" for kind in COLORS if kind in verdicts]
    return f"{len(verdicts)} claims: {', '.join(counts)}"


def picture(figure: Picture, kind: str) -> bytes:
    """The figure's bytes, the same for the same figure."""
    buffer = io.BytesIO()
    options: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": PNG_DPI}
    with matplotlib.rc_context({"svg.hashsalt": "gough"}):
        figure.savefig(buffer, format=kind, **options)
    figure.set_layout_engine("none")  # keeps the layout just found for the next format
    return buffer.getvalue()


def print_claims(one: Reproduction, console: Console) -> None:
    """A table of claim, paper, ours and verdict in the terminal, and the tables of numbers."""
    table = Table(title=one.title, caption=_tally(one), title_style="bold", show_lines=True)
    for heading in ("claim", "paper", "ours", "verdict"):
        table.add_column(heading, overflow="fold", ratio=1)
    for item in one.claims:
        verdict = f"[{COLORS[item.verdict]}]{item.verdict}[/]\n{plain(item.reason)}"
        table.add_row(*map(plain, (item.claim, item.paper, item.ours)), verdict.rstrip())
    console.print(table)
    for numbers in one.tables:
        table = Table(caption=plain(numbers.caption), caption_justify="left")
        for heading in numbers.header:
            table.add_column(plain(heading), justify="right")
        for cells in numbers.rows:
            table.add_row(*map(plain, cells))
        console.print(table)


PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
<footer>gough {made}. All figures and numbers on this page are computed.</footer>
</body>
</html>
"""

SECTION = """<section id="{name}">
<h1>{title}</h1>
<p class="source">{source}</p>
<h2>Claims</h2>
<p>{tally}</p>
<table>
<thead><tr><th>Claim</th><th>Paper</th><th>Here</th><th>Verdict</th></tr></thead>
<tbody>{rows}</tbody>
</table>
{tables}
<h2>Figures</h2>
{figures}
<h2>Assumed and corrected</h2>
<ul>{notes}</ul>
</section>
"""

STYLE = """
body { font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  color: #1d2126; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 2rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #d5d9de; }
.source, footer { color: #59616b; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; border-bottom: 2px solid #3c4148; padding: .4rem .8rem .4rem 0; }
td { vertical-align: top; border-bottom: 1px solid #e3e5e8; padding: .5rem .8rem .5rem 0;
  width: 24%; overflow-wrap: anywhere; }
td:nth-child(2) { width: 19%; } td:nth-child(3) { width: 33%; }
td span { font-weight: 600; white-space: nowrap; }
table.numbers { width: auto; }
table.numbers th, table.numbers td { width: auto; text-align: right; padding: .25rem 1.2rem .25rem 0; }
.agrees { color: #007a5a; } .disagrees { color: #b3261e; } .paper-wrong { color: #b04a00; }
.not-checkable { color: #59616b; }
figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #3c4148; font-size: .9rem; }
footer { margin-top: 3rem; font-size: .85rem; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  tr, figure { break-inside: avoid; } h1, h2 { break-after: avoid; }
  figure img { max-height: 10.5cm; }
  section + section { break-before: page; }
}
"""
