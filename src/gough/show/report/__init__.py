"""Reports: a robot or a result as one page that needs nothing but itself."""

from __future__ import annotations

from gough.show.report.result import result_page
from gough.show.report.robot import robot_page

__all__ = ["result_page", "robot_page"]
