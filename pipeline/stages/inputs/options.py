"""The options of an ingest, as its manifest has them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.config import IngestConfig
from pipeline.infer.version import RULES_VERSION
from pipeline.model.choices import ROUTERS_BY_DEFAULT
from pipeline.model.measured.reading import printable_path


def options_told(config: IngestConfig, is_inferred: bool) -> dict[str, Any]:
    """Every option that decides what a snapshot holds, and where the run was.

    ``is_inferred``: from traces, so that the rules of inference decide, too.
    """
    options = {
        key: [printable_path(v) for v in value] if isinstance(value, tuple) else value
        for key, value in asdict(config).items()
        if key not in ("store", "workers")
    }
    return {
        key: printable_path(value) if isinstance(value, Path) else value
        for key, value in options.items()
    } | {
        "routers": config.routers or ROUTERS_BY_DEFAULT,
        "hopscope": __version__,
        **({"inference_rules": RULES_VERSION} if is_inferred else {}),
        "ran_in": printable_path(Path.cwd()),
    }
