"""The command line, asked as a user asks it."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from gough.__main__ import main


class Answer(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*words: object, cwd: Path | str = ".") -> Answer:
    """A command in this process and in a folder; to start a real one takes a second."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        mock.patch.object(sys, "argv", ["gough", *map(str, words)]),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return Answer(ended.value.code or 0, stdout.getvalue(), stderr.getvalue())


def refused(*words: object, cwd: Path | str = ".") -> str:
    """What a command that is refused says: one line on stderr, exit code 2."""
    answer = run(*words, cwd=cwd)
    assert (answer.returncode, answer.stderr.count("\n")) == (2, 1), answer
    return answer.stderr
