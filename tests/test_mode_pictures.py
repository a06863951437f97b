"""Mode pictures show the whole deformed body, none of it cut at the edges of its drawing."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from cases.plates import LONG_MATERIAL, ignore_coupling
from gough.description.modal.body import ModalBody
from gough.description.modal.plate import plate_body
from gough.show.pictures.modes import mode_sheet

NO_TIPS = np.zeros((0, 3))


def block():
    """A cube whose nodes move far outside."""
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 4)] * 3), -1).reshape(-1, 3)
    x, y, _ = grid.T
    shapes = np.zeros((len(grid), 3, 2))
    shapes[:, 0, 0], shapes[:, 2, 1] = x**2 - np.mean(x**2), x * y
    return ModalBody(
        grid, np.full(64, 10.0), shapes, [1e4, 1e5], [0, 0], NO_TIPS, np.zeros((0, 3, 2))
    )


def bar():
    outline = np.array([[-1, -0.1], [1, -0.1], [1, 0.1], [-1, 0.1]])
    return plate_body(outline, LONG_MATERIAL, NO_TIPS, 3)


def square():
    outline = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return plate_body(outline, LONG_MATERIAL, NO_TIPS, 4)


@ignore_coupling
@pytest.mark.parametrize("body", [block, bar, square])
def test_nothing_is_cut_off(body):
    pictures = []
    for clip in (True, False):
        figure = mode_sheet(body(), "body")
        canvas = FigureCanvasAgg(figure)
        for axes in figure.axes:
            for artist in (*axes.collections, *axes.lines) if axes.name == "3d" else ():
                artist.set_clip_on(clip)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba()).copy())
    assert np.array_equal(*pictures)
