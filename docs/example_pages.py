"""The list of examples, from their first lines."""

from __future__ import annotations

import ast
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def listing() -> str:
    """A gallery, then each script: name, first line of the docstring, the script itself."""
    cards, parts = [], []
    for path in sorted(EXAMPLES.glob("*.py")):
        text = path.read_text("utf-8")
        first, _, rest = (ast.get_docstring(ast.parse(text)) or "").partition("\n")
        code = text.split('"""', 2)[2].strip()
        title = path.stem.replace("_", " ")
        about = f"{first} {' '.join(rest.split())}".strip()
        anchor = title.replace(" ", "-").lower()
        cards.append(f"[![{title}](gallery/{path.stem}.png)<br>{title}](#{anchor})\n")
        parts.append(f"## {title}\n\n{about}\n\n```python\n{code}\n```\n")
    gallery = "\n".join(cards)
    return f":::{{container}} gallery\n{gallery}:::\n\n" + "\n".join(parts)
