"""Who may talk to the studio: pages of this machine alone, unless another host was asked for.

A page from elsewhere can make a browser send requests to 127.0.0.1, under a name of its own that it
lets point there (DNS rebinding), or from its own origin (a websocket asks no one). Both show in the
request's headers: `Host` must be a name of this machine, and `Origin`, if there is one, that host.

Other users of this machine reach 127.0.0.1 as well. So every address of the studio begins with a token
that only its page knows, and no other page may show it in a frame.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import http
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.exceptions import WebSocketException
from websockets.http11 import Request, Response

from gough.base.words import shown
from gough.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORTS_TRIED = 50
QUIET = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
ALONE = {**QUIET, "Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY"}
"""Headers of every answer: no frame of another page, no word of the token to another server."""
FRAMED = {
    **QUIET,
    "Content-Security-Policy": "frame-ancestors http://localhost:* http://127.0.0.1:*",
}
"""The same where a notebook of this machine shows the page in a frame."""
Check = Callable[[ServerConnection, Request], Response | None]
_starting = threading.Lock()
_UNHEARD = logging.Logger("gough.studio", logging.CRITICAL)
"""Of connections that are no page's: whoever reaches the port could fill the terminal otherwise."""


def is_loopback(host: str) -> bool:
    """Only this machine can reach such a host."""
    return host in LOOPBACK


def allowed(host: str | None, origin: str | None, loopback: bool) -> bool:
    """A request with these headers is one of the studio's own page.

    `loopback`: the studio is bound to this machine, so no other name is right.
    """
    if not host:
        return False
    try:
        name = urlsplit(f"//{host}").hostname
        if loopback and name not in LOOPBACK:
            return False
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


@contextlib.contextmanager
def guarding(loopback: bool, token: str, framed: bool = False) -> Iterator[None]:
    """A server that viser starts in this block refuses requests that are not `allowed`.

    The addresses of those it answers begin with /token, which viser does not see. Pages of this
    machine may show it in a frame if it is `framed`.

    viser hands websockets a function of its own that sees every request first and has no place for
    another; so `serve` is exchanged, while the server starts, for one that puts the check before it.
    """
    serve = websockets.asyncio.server.serve

    def guarded(*arguments: Any, process_request: Check, **options: Any) -> Any:
        def check(connection: ServerConnection, request: Request) -> Response | None:
            rest = _behind(request.path, token)
            if rest is not None and _fits(request, loopback):
                request.path = rest
                answer = process_request(connection, request)
                if answer is not None:
                    answer.headers.update(FRAMED if framed else ALONE)
                return answer
            text = b"403: this page is for the machine it runs on\n"
            headers = Headers({"Content-Length": str(len(text)), "Content-Type": "text/plain"})
            return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, text)

        asyncio.get_running_loop().set_exception_handler(_misunderstood)
        return serve(*arguments, process_request=check, logger=_UNHEARD, **options)

    with _starting:
        websockets.asyncio.server.serve = guarded  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            websockets.asyncio.server.serve = serve  # type: ignore[misc]


def _misunderstood(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What trips over a message of a page: one line; the others go on."""
    error = context.get("exception")
    if error is not None:
        fact = f"{type(error).__name__}: {shown(str(error))}"
        print(f"note: a page sent what is not understood: {fact}", file=sys.stderr)


def _behind(path: str, token: str) -> str | None:
    """What follows the token in a request's path, None if it does not begin with it."""
    size = len(token) + 1
    head, rest = path[:size], path[size:]
    known = hmac.compare_digest(head.encode("utf-8", "replace"), f"/{token}".encode())
    if not known or rest[:1] not in ("", "/", "?"):
        return None
    return rest if rest.startswith("/") else f"/{rest}"


def _fits(request: Request, loopback: bool) -> bool:
    try:
        return allowed(request.headers.get("Host"), request.headers.get("Origin"), loopback)
    except (WebSocketException, LookupError):  # a header that is there twice
        return False


def free_port(host: str, port: int) -> int:
    """The first port from `port` on that is free on a host."""
    if not 0 < port < 65536:
        raise InputError(f"port {port} is not between 1 and 65535")
    try:
        family, kind, protocol, _, _ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError(f"host {host!r} is no address of this machine"[:120]) from None
    for one in range(port, min(port + PORTS_TRIED, 65536)):
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, one))
                return one
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    raise InputError(f"host {host!r} is no address of this machine") from None
    raise InputError(f"ports {port} to {port + PORTS_TRIED - 1} of {host} are all in use")
