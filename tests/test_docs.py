"""The documentation: every block of code runs, every command, link and name exists."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
import matplotlib
import numpy as np
import pytest
import typer
from PIL import Image

import gough
from cases.command import run
from gough.base.keys import Table
from gough.cli.app import app
from gough.description.schema import RobotFile
from gough.show import reproduction

ROOT = Path(__file__).parents[1]
MADE = ("_build", "generated", "_static")
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT / "docs").parts[0] not in MADE
    ]
)
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
COMMANDS: Any = typer.main.get_command(app)


class Block(NamedTuple):
    """A fenced block of a page."""

    line: int
    language: str
    file: str
    """The word behind the language: a file to write (```toml my.toml), "printed", or of sh "run"."""
    text: str


def blocks(text: str) -> Iterator[Block]:
    fence = re.compile(r"^```([\w+-]*)[ ]*([^\n`{}]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
    for found in fence.finditer(text):
        line = text[: found.start()].count("\n") + 1
        yield Block(line, found[1], found[2].strip(), found[3])


def prose(text: str) -> str:
    """A page without its blocks."""
    return re.sub(r"^```.*?^```[ ]*$", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(params=PAGES, ids=NAMES)
def page(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def run_page(page: Path) -> dict[str, Any]:
    """Write the page's files and run its code, in order and in one namespace, where we are."""
    space: dict[str, Any] = {"__name__": "__main__"}
    said = ""
    for block in blocks(page.read_text("utf-8")):
        if block.file == "printed":
            assert same(block.text, said), (
                f"{page}:{block.line} shows\n{block.text}but it is\n{said}"
            )
        elif (block.language, block.file) == ("sh", "run"):
            for line, words in commands(f"```sh\n{block.text}```\n"):
                answer = run(*words)
                assert answer.returncode == 0, f"{page}:{block.line + line}: {words}: {answer}"
        elif block.file:
            Path(block.file).write_text(block.text, "utf-8")
        elif block.language == "python":
            lines = "\n" * block.line + block.text  # so that a traceback names the page's line
            with contextlib.redirect_stdout(io.StringIO()) as spoken:
                exec(compile(lines, str(page), "exec"), space)
            said = spoken.getvalue()
    return space


NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def same(shown: str, said: str) -> bool:
    """Two outputs agree: the same words, and numbers to the digits shown or 1e-4 of them."""
    if NUMBER.sub("#", " ".join(shown.split())) != NUMBER.sub("#", " ".join(said.split())):
        return False
    numbers = zip(NUMBER.findall(shown), NUMBER.findall(said), strict=True)
    return all(
        abs(float(one) - float(two)) <= max(1e-4 * abs(float(two)), 1e-9) for one, two in numbers
    )


def test_printed_output_is_compared() -> None:
    assert same("x 1.00001 m\n", "x  1.0 m")
    assert not same("x 1.001 m", "x 1.0 m")
    assert not same("y 1.0 m", "x 1.0 m")


@pytest.mark.second_tier
def test_code_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.name == "benchmarks.md":
        pytest.skip("written by make bench")
    monkeypatch.chdir(tmp_path)
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    try:
        with warnings.catch_warnings():
            # Long's robot has bodies that no matter can make: the paper's numbers, not our slip
            warnings.simplefilter("ignore", gough.errors.ImpossibleBodyWarning)
            run_page(page)
    finally:
        matplotlib.use(before)


def commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Lines of sh blocks that call gough, as words."""
    for block in blocks(text):
        if block.language in ("sh", "bash", "console"):
            joined = block.text.replace("\\\n", " ")
            for line in re.split(r"\n|&&|;|\|", joined):
                words = shlex.split(line, comments=True)
                if words and words[0] == "gough":
                    yield block.line, words[1:]


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that these words call, and what is left of them."""
    command = COMMANDS
    while isinstance(command, click.Group) or hasattr(command, "commands"):
        assert words, "no command"
        assert words[0] in command.commands, f"no command {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_commands_exist(page: Path) -> None:
    for line, words in commands(page.read_text("utf-8")):
        if words[:1] == ["--help"]:
            continue
        shown = f"{page.name}:{line}: gough {' '.join(words)}"
        command, rest = resolved(words)
        known = {
            option: item
            for item in command.params
            for option in (*item.opts, *item.secondary_opts)
            if item.param_type_name == "option"
        }
        places = [item for item in command.params if item.param_type_name == "argument"]
        given, index = 0, 0
        while index < len(rest):
            word = rest[index]
            if word in (">", "<", ">>", "2>"):
                break
            if word.startswith("-") and word != "--help" and not re.match(r"-[\d.]", word):
                name = word.partition("=")[0]
                assert name in known, f"{shown}: no option {name}"
                index += 0 if known[name].is_flag or "=" in word else 1
            elif word != "--help":
                given += 1
            index += 1
        least = sum(item.required for item in places)
        most = 999 if any(item.nargs < 0 for item in places) else len(places)
        assert least <= given <= most or "--help" in rest, f"{shown}: {given} arguments"


def test_commands_are_looked_at() -> None:
    """The parser above finds what is wrong."""
    text = "```sh\ngough list && gough nothing\ngough show kim --frequency 2  # why\n```\n"
    first, second, third = (words for _, words in commands(text))
    assert resolved(first)[1] == []
    with pytest.raises(AssertionError, match="no command 'nothing'"):
        resolved(second)
    assert third == ["show", "kim", "--frequency", "2"]


def test_the_reference_has_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/commands.md, to which the build adds what the commands' own help says."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = importlib.import_module("command_pages").listing()
    shown = {tuple(words) for _, words in commands(text)}
    for name, command in COMMANDS.commands.items():
        inner = getattr(command, "commands", {"": command})
        for part, one in inner.items():
            called = f"gough {name} {part}".strip()
            assert f"### {called}\n" in text
            options = [item for item in one.params if item.param_type_name == "option"]
            for option in (word for item in options for word in item.opts):
                assert option in text, f"{called} {option}"
    assert ("list",) in shown


def anchors(page: Path) -> set[str]:
    """Headings of a page as link targets."""
    headings = re.findall(r"^#+ (.+)$", prose(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def test_links_hold(page: Path) -> None:
    for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", prose(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        if "generated/" in name:  # a paper's page, made by the build
            assert Path(name).stem in reproduction.NAMES, f"{page}: {target}"
            continue
        assert path.exists(), f"{page}: {target}"
        if anchor:
            assert anchor in anchors(path), f"{page}: {target}"


def test_one_title(page: Path) -> None:
    text = prose(page.read_text("utf-8"))
    if page.name != "contributing.md":  # includes the one at the root
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, f"{page}: one H1"
    assert not re.search(r"^<\w+", text, re.MULTILINE), f"{page}: raw HTML"


def formulas(text: str) -> list[str]:
    """What of a page is written as LaTeX, which is read neither offline nor in plain text."""
    text = re.sub(r"^```(?=\{math\})", "", text, flags=re.MULTILINE)  # a block, but of LaTeX
    shown = re.sub(r"^(?: {4}|\t).*$|`[^`\n]*`", "", prose(text), flags=re.MULTILINE)
    return re.findall(r"\${1,2}[^$]+\${1,2}|\\[(\[]|\{math\}", shown)


def test_no_latex(page: Path) -> None:
    assert formulas(page.read_text("utf-8")) == []


def test_latex_is_found() -> None:
    assert formulas("a $x$ b\n\n$$\ny\n$$\n") == ["$x$", "$$\ny\n$$"]
    assert formulas("```{math}\ny\n```\n") == ["{math}"]
    assert formulas("`$HOME$`, 5 $\n\n```sh\necho $A $B\n```\n\n    $x$\n") == []


def exists(name: str) -> bool:
    """A dotted name that starts with `gough` or `robot` leads to something."""
    first, *rest = name.split(".")
    thing: Any = gough.Robot if first == "robot" else gough
    path = "gough"
    for part in rest:
        path += f".{part}"
        fields = getattr(thing, "__dataclass_fields__", {})
        if part in fields:
            return True  # what a field holds is known only of an object
        if hasattr(thing, part):
            thing = getattr(thing, part)
            if isinstance(thing, property) or not isinstance(thing, type | type(gough)):
                return True
            continue
        try:
            thing = importlib.import_module(path)
        except ModuleNotFoundError:
            return False
    return True


def test_names_exist(page: Path) -> None:
    for name in re.findall(r"`((?:gough|robot)(?:\.\w+)+)", prose(page.read_text("utf-8"))):
        if re.search(r"\.(py|toml|json|csv|nc|png|html|sh|h|c)$", name):
            continue
        assert exists(name), f"{page}: {name}"
    assert exists("gough.analysis.locus.surface")
    assert not exists("gough.analysis.locus.surfaces")
    assert not exists("robot.inverse_dynamic")


def test_names_in_docstrings_exist() -> None:
    """Modules and what is in them, where the code speaks of them."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name in re.findall(r"`(gough(?:\.\w+)+)", path.read_text("utf-8")):
            assert exists(name), f"{path}: {name}"


def test_files_exist(page: Path) -> None:
    """Paths into the repository, in backticks, lead somewhere."""
    pattern = r"`((?:src|docs|tests|examples|papers|benchmarks)/[\w./-]*)`"
    for name in re.findall(pattern, prose(page.read_text("utf-8"))):
        assert (ROOT / name).exists() or "generated/" in name, f"{page}: {name}"


def test_tests_exist(page: Path) -> None:
    """Tests that a page names as evidence are there."""
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for name in re.findall(r"\btest_\w+\b(?!\.py)", prose(page.read_text("utf-8"))):
        assert f"def {name}(" in code, f"{page}: {name}"


def schema_keys(model: Any, found: set[str]) -> set[str]:
    """All keys of a table of the robot file, and of the tables in it."""
    for name, item in model.model_fields.items():
        found.add(name)
        for table in tables_in(item.annotation):
            schema_keys(table, found)
    return found


def tables_in(annotation: Any) -> Iterator[Any]:
    """The tables that a key may hold: itself, in a list, or one of several."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for part in get_args(annotation):
        yield from tables_in(part)


def test_every_key_is_described() -> None:
    """docs/robot-files.md names every key that a robot file may hold."""
    text = (ROOT / "docs" / "robot-files.md").read_text("utf-8")
    named = set(re.findall(r"`([A-Za-z_0-9]+)`", text)) | set(re.findall(r"\b[XYZM]{1,2}\b", text))
    keys = schema_keys(RobotFile, set())
    assert {"rail_origin", "XX", "screw_lead", "stroke", "young", "geometry", "payload"} <= keys
    assert keys - named == set()


def test_table_of_robots_says_what_their_files_give() -> None:
    """docs/which-robot.md: rows with pictures beside what its code prints of every file on it."""
    text = (ROOT / "docs" / "which-robot.md").read_text("utf-8")
    row = r"^\| !\[[^]]*\]\(robots/([\w-]+)\.png\) \|.*\| (\d) \| ([xyzr ]+) \| (\d, N(?: m)?) \|$"
    line = r"^([\w-]+) +(\d)  ([xyzr ]+?) +(\d, N(?: m)?)$"
    (printed,) = (block.text for block in blocks(text) if block.file == "printed")
    files = {block.file.removesuffix(".toml") for block in blocks(text) if block.language == "toml"}
    rows = sorted(re.findall(row, text, re.MULTILINE))
    assert {name for name, *_ in rows} == files
    assert rows == sorted(re.findall(line, printed, re.MULTILINE))


@pytest.mark.second_tier
def test_gallery_is_made_by_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/gallery.md: pictures carry the lines they were made by; one is drawn anew and compared."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    gallery = importlib.import_module("gallery_pictures")
    page = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    cards = {card.name: card for card in gallery.cards(page)}
    pictures = {path.stem: path for path in (ROOT / "docs" / "gallery").glob("*")}
    assert pictures.keys() == cards.keys()
    for name, path in pictures.items():
        assert gallery.made_by(path) == cards[name].code, f"{path}: remove it and build the docs"
    kept = np.asarray(Image.open(pictures["delta"]).convert("RGB"), dtype=float)
    drawn = np.asarray(gallery.picture(cards["delta"]).convert("RGB"), dtype=float)
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 2.0  # grey levels of 255: fonts differ between machines
