"""The list of examples, from their first lines."""

from __future__ import annotations

import ast
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def listing() -> str:
    """A Markdown list: name, first line of the docstring, the script itself."""
    parts = []
    for path in sorted(EXAMPLES.glob("*.py")):
        text = path.read_text("utf-8")
        first, _, rest = (ast.get_docstring(ast.parse(text)) or "").partition("\n")
        code = text.split('"""', 2)[2].strip()
        title = path.stem.partition("_")[0] + " " + path.stem.partition("_")[2].replace("_", " ")
        about = f"{first} {' '.join(rest.split())}".strip()
        parts.append(f"## {title}\n\n{about}\n\n```python\n{code}\n```\n")
    return "\n".join(parts)
