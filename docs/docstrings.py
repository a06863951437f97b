"""Docstrings as reStructuredText: equations as literal blocks, the papers' letters left alone."""

from __future__ import annotations

import re
from typing import Any


def _inline(line: str) -> str:
    """Names in `backticks` as code; what reStructuredText would read as markup, escaped."""
    parts = re.split(r"`+", line)
    if len(parts) % 2 == 0:  # a name that goes on in the next line: leave no markup at all
        return re.sub(r"([\\*|_`])", r"\\\1", line)
    for i, part in enumerate(parts):
        parts[i] = f"``{part}``" if i % 2 else re.sub(r"([\\*|_])", r"\\\1", part)
    return "\\ ".join(part for part in parts if part)


def to_rst(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place; indented paragraphs become literal blocks."""
    result: list[str] = []
    literal = listed = False
    for line in lines:
        indented = line.startswith("  ")
        if not line.strip():
            result.append("")
            listed = listed and literal
            continue
        if re.match(r"[-*] ", line):
            if not listed:
                result.append("")
            listed, literal = True, False
        elif indented and not listed:
            if not literal:
                result += ["", "::", ""]
            literal = True
        elif not indented:
            if literal or listed:
                result.append("")
            listed = literal = False
        if literal:
            result.append(line)
        elif listed and line.startswith(("- ", "* ")):
            result.append("- " + _inline(line[2:]))
        elif listed:
            result.append("  " + _inline(line.strip()))
        else:
            result.append(_inline(line))
    lines[:] = [*result, ""]


def plain_types(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, result: Any
) -> tuple[str | None, Any]:
    """Aliases by their name in a signature, also where they stand in a union."""
    return signature and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature), result
