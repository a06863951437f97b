"""A page: text, tables and pictures in one HTML file that needs nothing but itself and prints well.

Everything given to a `Page` is taken as text and escaped; pictures are embedded. No script, no font,
no style and no picture is fetched from elsewhere. The scripts are gough's own: one shows the values
of curves under the mouse, one turns robots; without them, and on paper, the pictures are the same.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from matplotlib.figure import Figure

from gough.base.files import replacing
from gough.base.version import VERSION
from gough.show.hover import curves_of
from gough.show.style import picture
from gough.show.turnable import Turnable
from gough.show.web import web_part

LARGEST_SVG = 2_000_000
"""Bytes of a picture from which it is embedded as PNG: curves of many points."""
LONG = 20
"""Rows of a table from which it may be cut when printed."""
NUMBER = re.compile(
    r"([<>≤≥±]\s*)?[+\-−]?(\d[\d.,\u202f]*|\.\d+|∞|nan|inf)"
    r"(e[+\-]?\d+|·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(\s*[^\d\s]{1,3})?|[–—-]?"
)
"""Texts that stand in a column of numbers: a number with at most a short unit, or a dash for none."""
HEADS = {"png": b"\x89PNG", "jpeg": b"\xff\xd8"}

Mark = Literal["good", "fair", "bad", "quiet"]


@dataclass(frozen=True)
class Marked:
    """A cell that is coloured by what it says, with a reason below."""

    text: str
    mark: Mark
    reason: str = ""


@dataclass(frozen=True)
class Hyperlink:
    """A cell that leads to an anchor (#name) or to a file beside the page, and a remark behind it."""

    text: str
    target: str
    remark: str = ""


Cell = str | Marked | Hyperlink | Sequence[str]
"""A sequence is a vector: its components are columns of their own below one heading."""


class Page:
    """A page that is filled from top to bottom."""

    def __init__(self, title: str, source: str = "") -> None:
        self.title = title
        self._parts = [f"<h1>{escape(title)}</h1>"]
        self._chapters = 0
        self._scripts: dict[str, str] = {}
        """What the page's pictures need, by the style that goes with it."""
        if source:
            self.text(source, "quiet")

    def chapter(self, title: str, anchor: str, source: str = "") -> None:
        """Start a new part with a title of its own; in print it starts a sheet."""
        self._parts.append("</section>" if self._chapters else "")
        self._chapters += 1
        self._parts.append(f'<section id="{escape(anchor)}"><h1>{escape(title)}</h1>')
        if source:
            self.text(source, "quiet")

    def heading(self, text: str, level: Literal[2, 3] = 2) -> None:
        """A heading below the title."""
        self._parts.append(f"<h{level}>{escape(text)}</h{level}>")

    def text(self, text: str, mark: Mark | None = None) -> None:
        """A paragraph."""
        kind = "" if mark is None else f' class="{mark}"'
        self._parts.append(f"<p{kind}>{escape(text)}</p>")

    def points(self, items: Sequence[str | Hyperlink]) -> None:
        """A list."""
        if items:
            lines = "".join(f"<li>{_inline(one)}</li>\n" for one in items)
            self._parts.append(f"<ul>\n{lines}</ul>")

    def commands(self, lines: Sequence[tuple[str, str]]) -> None:
        """Commands to type, each with what it is for."""
        body = "".join(
            f"<dt><code>{escape(line)}</code></dt><dd>{escape(what)}</dd>\n" for line, what in lines
        )
        self._parts.append(f"<dl>\n{body}</dl>")

    def code(self, text: str) -> None:
        """Lines of a program."""
        self._parts.append(f"<pre><code>{escape(text.strip())}</code></pre>")

    def facts(self, facts: Sequence[tuple[str, str | Marked]]) -> None:
        """Names and what they are, a line each."""
        body = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{_inline(value)}</td></tr>\n'
            for name, value in facts
        )
        self._parts.append(f'<table class="facts"><tbody>\n{body}</tbody></table>')

    def table(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        caption: str = "",
        widths: Sequence[int] = (),
    ) -> None:
        """A table; widths of its columns, in percent, make it as wide as the page."""
        spans = [max(map(_columns, column), default=1) for column in zip(*rows, strict=True)]
        spans = spans or [1] * len(header)
        numbers = [
            all(_is_number(one) for one in column) and any(column)
            for column in zip(*rows, strict=True)
        ] or [False] * len(header)
        head = "".join(
            f"<th{_span(span)}{_aligned(number, span)}>{escape(one)}</th>"
            for one, span, number in zip(header, spans, numbers, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                _cells(one, span, number)
                for one, span, number in zip(row, spans, numbers, strict=True)
            )
            + "</tr>\n"
            for row in rows
        )
        columns = "".join(f'<col style="width: {width}%">' for width in widths)
        wide = ' class="wide"' if widths else ""
        below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
        kind = ' class="long"' if widths or len(rows) > LONG else ""
        self._parts.append(
            f"<figure{kind}><table{wide}>{columns}<thead><tr>{head}</tr></thead>\n"
            f"<tbody>{body}</tbody></table>{below}</figure>"
        )

    def figure(self, figure: Figure, caption: str) -> None:
        """A picture; as SVG, or PNG where that is large."""
        data = picture(figure, "svg")
        curves = curves_of(figure)
        if len(data) > LARGEST_SVG:
            self._image("png", picture(figure, "png"), caption, curves)
        else:
            self._image("svg+xml", data, caption, curves)

    def image(self, data: bytes, caption: str) -> None:
        """A picture that is there already, the bytes of a PNG or JPEG file."""
        kind = next((kind for kind, start in HEADS.items() if data.startswith(start)), "png")
        self._image(kind, data, caption)

    def turnable(self, robot: Turnable, caption: str) -> None:
        """A robot that turns with the mouse; on paper its picture."""
        self._scripts.update([web_part("turnable")])
        below = f"<figcaption>{escape(caption)}</figcaption>"
        self._parts.append(f'<figure class="picture">{robot.part}{below}</figure>')

    def _image(self, kind: str, data: bytes, caption: str, curves: str = "") -> None:
        """`curves`: what `curves_of` knows of them."""
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        image = f'<img alt="{escape(caption)}" src="{source}">'
        if curves:
            self._scripts.update([web_part("hover")])
            held = f'<script type="application/json">{curves}</script>'
            image = f'<div class="gough-hover">{image}{held}</div>'
        below = f"<figcaption>{escape(caption)}</figcaption>"
        self._parts.append(f'<figure class="picture">{image}{below}</figure>')

    def html(self) -> str:
        """The page as text."""
        body = "\n".join([*self._parts, "</section>" if self._chapters else ""])
        style = "".join([STYLE, *self._scripts])
        scripts = "".join(f"<script>{one}</script>\n" for one in self._scripts.values())
        title = escape(self.title)
        return FRAME.format(title=title, style=style, body=body, made=VERSION, scripts=scripts)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(self.html(), "utf-8")


def _inline(cell: str | Marked | Hyperlink) -> str:
    if isinstance(cell, Hyperlink):
        behind = f" {escape(cell.remark)}" if cell.remark else ""
        return f'<a href="{escape(cell.target)}">{escape(cell.text)}</a>{behind}'
    if isinstance(cell, Marked):
        below = f"<br>{escape(cell.reason)}" if cell.reason else ""
        return f'<span class="{cell.mark}">{escape(cell.text)}</span>{below}'
    return escape(cell)


def _columns(cell: Cell) -> int:
    return 1 if isinstance(cell, str | Marked | Hyperlink) else max(1, len(cell))


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, Marked | Hyperlink):
        return False
    parts = [cell] if isinstance(cell, str) else cell
    return all(NUMBER.fullmatch(one.strip()) for one in parts)


def _cells(cell: Cell, span: int, number: bool) -> str:
    if isinstance(cell, str | Marked | Hyperlink):
        return f"<td{_span(span)}{_aligned(number)}>{_inline(cell)}</td>"
    padded = [*cell, *[""] * (span - len(cell))]
    return "".join(f"<td{_aligned(number)}>{escape(one)}</td>" for one in padded)


def _span(span: int) -> str:
    return f' colspan="{span}"' if span > 1 else ""


def _aligned(number: bool, span: int = 1) -> str:
    if not number:
        return ""
    return ' class="vector"' if span > 1 else ' class="number"'


FRAME = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
<footer>gough {made}. All figures and numbers on this page are computed.</footer>
{scripts}</body>
</html>
"""

STYLE = """
body { font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  color: #1d2126; background: #fff; max-width: 100rem; margin: 2rem auto;
  padding: 0 clamp(1rem, 3vw, 4rem); }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #d5d9de; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p, li, dd { max-width: 46rem; overflow-wrap: anywhere; }
a { color: #00588a; }
table { border-collapse: collapse; font-size: .9rem; }
table.wide { width: 100%; table-layout: fixed; }
th { text-align: left; border-bottom: 2px solid #3c4148; padding: .3rem 1.2rem .3rem 0;
  vertical-align: bottom; }
td { vertical-align: top; border-bottom: 1px solid #e3e5e8; padding: .3rem 1.2rem .3rem 0;
  overflow-wrap: anywhere; }
th.number, td.number { text-align: right; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
th.vector { text-align: center; }
td span { font-weight: 600; }
table.facts th { border-bottom: 1px solid #e3e5e8; font-weight: 600; white-space: nowrap;
  vertical-align: top; }
table.facts td { font-variant-numeric: tabular-nums; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; background: #f2f4f6;
  padding: .15rem .35rem; border-radius: .2rem; }
pre { background: #f2f4f6; padding: .7rem .9rem; border-radius: .3rem; overflow-x: auto; }
pre code { padding: 0; }
dt { margin-top: .6rem; } dd { margin: .1rem 0 0 1.2rem; color: #3c4148; }
.good { color: #007a5a; } .fair { color: #b04a00; } .bad { color: #b3261e; }
.quiet, footer { color: #59616b; }
figure { display: inline-block; vertical-align: top; margin: 1.2rem 3rem 1.2rem 0; max-width: 100%;
  overflow-x: auto; }
figure.long { display: block; }
@media screen and (min-width: 70rem) { figure.picture { width: 47.5%; margin-right: 2%; }
  figure.picture img { width: 100%; } }
figure img { max-width: 100%; height: auto; }
figcaption { color: #3c4148; font-size: .9rem; max-width: 46rem; margin-top: .3rem; }
footer { margin-top: 3rem; font-size: .85rem; }
@page { margin: 16mm 14mm; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  tr, figure { break-inside: avoid; } figure.long { break-inside: auto; }
  h1, h2, h3 { break-after: avoid; } thead { display: table-header-group; }
  figure { display: block; margin: 1.2rem 0; overflow: visible; } figure img { max-height: 10cm; }
  section { break-before: page; } a { color: inherit; }
}
"""
