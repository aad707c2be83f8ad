"""Options of what programs say on stderr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.options import option

LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class LogConfig:
    """How progress, warnings and errors are written; results on stdout are another matter."""

    log_format: LogFormat = option(
        default="text", help="Progress, warnings and errors on stderr: text or lines of JSON."
    )
