"""The reference of commands, from their own help."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import typer

from gough.cli.app import GROUPS, app
from gough.cli.help import taken, usage


def listing() -> str:
    """Markdown: a section per group, a heading per command, what it takes in tables."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parts = []
    for group, names in GROUPS.items():
        parts.append(f"## {group}\n")
        for name in names:
            parts += described(commands[name], f"gough {name}")
    return "\n".join(parts)


def described(command: Any, path: str) -> Iterator[str]:
    """A command, or each command of a group."""
    inner = getattr(command, "commands", None)
    if inner:
        yield f"### {path}\n\n{words(str(command.help))}\n"
        for name, one in inner.items():
            yield from described(one, f"{path} {name}")
        return
    context = typer.Context(command, info_name=path)
    yield f"### {path}\n\n```text\n{usage(command, context)}\n```\n\n{words(str(command.help))}\n"
    rows = [*taken(command, context, "argument"), *taken(command, context, "option")]
    lines = [f"| `{name}` | {cell(text)} |" for name, text in rows if name != "--help"]
    yield "\n".join(["| | |", "|---|---|", *lines, ""])


def words(text: str) -> str:
    """Paragraphs of a command's help; its example as code."""
    paragraphs = [" ".join(one.split()) for one in cleandoc(text).split("\n\n")]
    shown = [
        f"```sh\n{one.removeprefix('Example: ')}\n```" if one.startswith("Example: ") else cell(one)
        for one in paragraphs
    ]
    return "\n\n".join(shown)


def cell(text: str) -> str:
    """Text that Markdown leaves as it is."""
    for sign in "\\|*_[]<>":
        text = text.replace(sign, f"\\{sign}")
    return text
