"""The studio: a robot in the browser, to be moved, watched and measured.

`gough studio` starts it. What is shown for a state (record, levels, tables, shapes, player) knows
nothing of the browser; `scene`, `panel` and `app` put it on a page served by viser.
"""
