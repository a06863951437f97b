"""Sphinx configuration: `make docs` builds the pages, warnings as errors.

The papers' pages are computed before the build (`paper_pages.py`) and kept in `generated/` until the
code they come from changes; drawings that are missing are made (`figures.py`, `robot_pictures.py`), as
are those of the gallery that its lines did not make (`gallery_pictures.py`), and that of the imports
always (`import_graph.py`).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import command_pages  # noqa: E402
import docstrings  # noqa: E402
import example_pages  # noqa: E402
import figures  # noqa: E402
import gallery_pictures  # noqa: E402
import gough  # noqa: E402
import import_graph  # noqa: E402
import paper_pages  # noqa: E402
import robot_pictures  # noqa: E402

project = "gough"
author = "The gough developers"
project_copyright = author
version = release = gough.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
suppress_warnings = ["misc.highlighting_failure"]  # csv has no lexer
html_theme = "furo"
html_title = f"gough {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css", "equations.css", "gallery.css"]
MONOSPACE = "'DejaVu Sans Mono', 'Noto Sans Mono', Menlo, Consolas, monospace"  # for q̇, Wᵀ, ξ
html_theme_options = {
    "light_css_variables": {"font-stack--monospace": MONOSPACE},
    "dark_css_variables": {"font-stack--monospace": MONOSPACE},
}
pygments_style = "friendly"

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Array": "Array"}
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88


def compute(app: Any) -> None:
    """Make drawings and the papers' pages, unless they are there and fresh."""
    figures.write(HERE)
    robot_pictures.write(HERE)
    gallery_pictures.write(HERE)
    import_graph.write(HERE / "generated")
    paper_pages.write(HERE / "generated")


def complete(app: Any, name: str, source: list[str]) -> None:
    """Add the scripts to the page of examples, help to that of commands, further pages to the index."""
    if name == "examples":
        source[0] += example_pages.listing()
    if name == "commands":
        source[0] += "\n" + command_pages.listing()
    if name == "index":
        named = set(re.findall(r"^[\w/-]+$", source[0], re.MULTILINE))
        others = [one for one in sorted(app.env.found_docs) if "/" not in one]
        lines = [one for one in others if one not in named and one != "index"]
        source[0] = source[0].replace("% other pages", "\n".join(lines))


def setup(app: Any) -> None:
    """Connect the steps above."""
    app.connect("builder-inited", compute)
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", docstrings.to_rst)
    app.connect("autodoc-process-signature", docstrings.plain_types)
