"""Docstrings as reStructuredText: equations as literal blocks, the papers' letters left alone."""

from __future__ import annotations

import re
from typing import Any

SECTIONS = ("Args:", "Returns:", "Raises:", "Example:")


def _inline(line: str) -> str:
    """Names in `backticks` as code; what reStructuredText would read as markup, escaped."""
    parts = re.split(r"`+", line)
    if len(parts) % 2 == 0:  # a name that goes on in the next line: leave no markup at all
        return re.sub(r"([\\*|_`])", r"\\\1", line)
    for i, part in enumerate(parts):
        parts[i] = f"``{part}``" if i % 2 else re.sub(r"([\\*|_])", r"\\\1", part)
    return "\\ ".join(part for part in parts if part)


def _sections(lines: list[str]) -> list[str]:
    """What follows the text of a docstring, taken from it: arguments, results and an example."""
    fields: list[str] = []
    start = next((i for i, line in enumerate(lines) if line in SECTIONS), len(lines))
    title = ""
    for line in lines[start:]:
        text = line.strip()
        if line in SECTIONS:
            title = line
            if title == "Example:":
                fields += ["", ".. code-block:: pycon", ""]
            elif title == "Returns:":
                fields.append(":returns:")
        elif title == "Example:" or not text:
            fields.append(line)
        elif title == "Returns:" or line.startswith(" " * 6):
            fields.append("    " + _inline(text))
        else:
            name, _, meaning = text.partition(":")
            role = "param" if title == "Args:" else "raises"
            fields.append(f":{role} {name}: {_inline(meaning.strip())}")
    del lines[start:]
    return fields


def to_rst(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place; indented paragraphs become literal blocks."""
    result: list[str] = []
    fields = _sections(lines)
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
    lines[:] = [*result, "", *fields, ""]


def plain_types(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, result: Any
) -> tuple[str | None, Any]:
    """Aliases by their name in a signature, also where they stand in a union."""
    return signature and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature), result
