"""The studio's web server: viser's, on this machine alone, and quiet."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import Any

import rich
import viser

from gough.studio.guard import guarding, is_loopback


class StudioServer(viser.ViserServer):
    """viser's server without its tunnel to the world and without its words on standard output."""

    def __init__(self, host: str, port: int, framed: bool = False) -> None:
        """`framed`: notebooks of this machine may show the page."""
        self.host, self.token = host, secrets.token_urlsafe(16)
        with guarding(is_loopback(host), self.token, framed), _quiet():
            super().__init__(host=host, port=port, label="gough studio", verbose=False)

    @property
    def address(self) -> str:
        """Of the page, with the token that opens it."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.get_port()}/{self.token}/"

    def request_share_url(self, *arguments: Any, **options: Any) -> str | None:
        """Refused: a browser can ask viser for a public address of the page."""
        return None

    def stop(self) -> None:
        """Stop the server."""
        with _quiet():
            super().stop()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """viser prints through rich's own console."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
