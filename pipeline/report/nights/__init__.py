"""The page over all nights of a folder of reports: ``OUT/index.html``."""

from __future__ import annotations

from pipeline.report.names import NIGHTS_PAGE
from pipeline.report.nights.page import write_nights

__all__ = ["NIGHTS_PAGE", "write_nights"]
