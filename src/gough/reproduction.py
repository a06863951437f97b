"""Reproductions of papers: their claims beside ours, and their figures, as one page.

Each paper has a script (`papers/` of the repository, `gough/papers` once installed) with a function
`reproduce(progress) -> Reproduction`. `run` finds the scripts, runs them and writes a page that
needs nothing but itself, with the figures beside it as PNG files.
"""

from __future__ import annotations

import base64
import difflib
import html
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.table import Table

from gough import __version__
from gough.errors import FileError, InputError
from gough.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

NAMES = ("kim-ryu-2002", "sinatra-xi-staicu-2009", "khalil-guegan-2004")
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

    def claim(self, start: str) -> Claim:
        """The claim whose text begins so."""
        return next(one for one in self.claims if one.claim.startswith(start))


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
    """The script of a paper as a module."""
    stem = name.replace("-", "_")
    for place in script_folders():
        path = place / f"{stem}.py"
        if path.is_file():
            spec = importlib.util.spec_from_file_location(f"gough_papers_{stem}", path)
            if spec is None or spec.loader is None:
                break
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise FileError(f"papers/{stem}.py: the script of {name} is missing from this installation")


def script_folders() -> Iterator[Path]:
    """Where scripts may be: inside the package, else beside it in the repository."""
    with resources.as_file(resources.files("gough")) as package:
        yield package / "papers"
        if package.parent.name == "src":
            yield package.parents[1] / "papers"


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
                temporary.write_bytes(_picture(figure.figure, "png"))
    path = target / f"{name}.html"
    with replacing(path) as temporary:
        temporary.write_text(page(reproductions), "utf-8")
    return path


def page(reproductions: Sequence[Reproduction]) -> str:
    """One HTML page with everything inside it."""
    first = reproductions[0]
    title = first.title if len(reproductions) == 1 else "Papers on parallel robots, reproduced"
    body = "\n".join(_section(one) for one in reproductions)
    contents = ""
    if len(reproductions) > 1:
        links = "".join(
            f'<li><a href="#{one.name}">{html.escape(one.title)}</a> {_tally(one)}</li>'
            for one in reproductions
        )
        contents = f"<h1>{html.escape(title)}</h1><ul>{links}</ul>"
    return PAGE.format(
        title=html.escape(title), style=STYLE, body=contents + body, made=__version__
    )


def _section(one: Reproduction) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(item.claim)}</td><td>{html.escape(item.paper)}</td>"
        f"<td>{html.escape(item.ours)}</td>"
        f'<td><span class="verdict {item.verdict.replace(" ", "-")}">{item.verdict}</span>'
        f"<br>{html.escape(item.reason)}</td></tr>"
        for item in one.claims
    )
    figures = "".join(
        f'<figure id="{one.name}-{item.name}"><img alt="{html.escape(item.caption)}" '
        f'src="data:image/svg+xml;base64,'
        f'{base64.b64encode(_picture(item.figure, "svg")).decode()}">'
        f"<figcaption>{html.escape(item.caption)}</figcaption></figure>"
        for item in one.figures
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in one.notes)
    return SECTION.format(
        name=one.name,
        title=html.escape(one.title),
        source=html.escape(one.source),
        tally=_tally(one),
        rows=rows,
        figures=figures,
        notes=notes,
    )


def _tally(one: Reproduction) -> str:
    """How many claims have which verdict."""
    verdicts = [item.verdict for item in one.claims]
    counts = [f"{verdicts.count(kind)} {kind}" for kind in COLORS if kind in verdicts]
    return f"{len(verdicts)} claims: {', '.join(counts)}"


def _picture(figure: Picture, kind: str) -> bytes:
    """The figure's bytes, the same for the same figure."""
    import matplotlib

    buffer = io.BytesIO()
    plain: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": PNG_DPI}
    with matplotlib.rc_context({"svg.hashsalt": "gough"}):
        figure.savefig(buffer, format=kind, **plain)
    return buffer.getvalue()


def print_claims(one: Reproduction, console: Console) -> None:
    """A table of claim, paper, ours and verdict in the terminal."""
    table = Table(title=one.title, caption=_tally(one), title_style="bold", show_lines=True)
    for heading in ("claim", "paper", "ours", "verdict"):
        table.add_column(heading, overflow="fold", ratio=1)
    for item in one.claims:
        verdict = f"[{COLORS[item.verdict]}]{item.verdict}[/]"
        reason = f"\n{_plain(item.reason)}" if item.reason else ""
        table.add_row(_plain(item.claim), _plain(item.paper), _plain(item.ours), verdict + reason)
    console.print(table)


def _plain(text: str) -> str:
    """Text whose brackets rich leaves alone."""
    return text.replace("[", r"\[")


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
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
<h2>Figures</h2>
{figures}
<h2>Assumed and corrected</h2>
<ul class="notes">{notes}</ul>
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
  width: 25%; overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; }
.agrees { color: #007a5a; } .disagrees { color: #b3261e; } .paper-wrong { color: #b04a00; }
.not-checkable { color: #59616b; }
figure { margin: 1.5rem 0; }
figure img { width: 100%; height: auto; }
figcaption { color: #3c4148; font-size: .9rem; }
.notes li { margin-bottom: .35rem; }
footer { margin-top: 3rem; font-size: .85rem; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  tr, figure { break-inside: avoid; }
  h1, h2 { break-after: avoid; }
  section + section { break-before: page; }
}
"""
