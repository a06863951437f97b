"""Pictures and films of the scene as a page shows it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from PIL import Image

from gough.errors import InputError

if TYPE_CHECKING:
    import viser

PICTURE, FILM = (1200, 900), (640, 480)
"""Width and height, pixels."""
PATIENCE = 30.0
"""Seconds that a page may take for one picture."""


def take_picture(client: viser.ClientHandle) -> bytes:
    """The scene as a PNG."""
    return _written(_render(client, PICTURE), "png")


def take_film(
    client: viser.ClientHandle, show: Callable[[int], None], count: int, rate: float
) -> bytes:
    """`count` instants as a GIF of `rate` pictures a second; `show` puts the k-th into the scene."""
    pictures = []
    for k in range(count):
        show(k)
        client.flush()
        pictures.append(_render(client, FILM))
    buffer = io.BytesIO()
    options = {"save_all": True, "append_images": pictures[1:], "loop": 0}
    pictures[0].save(buffer, format="gif", duration=round(1000 / rate), **options)
    return buffer.getvalue()


def _render(client: viser.ClientHandle, size: tuple[int, int]) -> Image.Image:
    width, height = size
    try:
        pixels = client.get_render(height, width, transport_format="jpeg", timeout=PATIENCE)
    except (TimeoutError, RuntimeError, ConnectionError) as error:
        raise InputError(f"the page sent no picture: {error}"[:200]) from None
    return Image.fromarray(pixels[..., :3])


def _written(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()
