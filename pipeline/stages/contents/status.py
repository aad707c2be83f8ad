"""Runs in progress on a store, and how long each may still take."""

from __future__ import annotations

import time
from typing import Any

from pipeline.config import StatusConfig
from pipeline.errors import StoreError
from pipeline.model.progress import STEPS
from pipeline.store.running import runs_on

_LEAST_SHARE = 0.01  # of a step; before, the time left is not estimated


def status(config: StatusConfig) -> list[dict[str, Any]]:
    """Facts of each run on a store that has not ended, the longest first.

    Returns
    -------
    list of dict
        ``command``, ``snapshot``, ``step``, ``title``, ``done`` of ``total`` ``unit``, ``share`` of
        the step (0 to 1, null unknown), ``detail``, ``running_s``, ``told_s_ago``, ``left_s`` of
        the step (null unknown), ``dashboard`` (null: none), ``pid``, ``host``, ``is_alive`` (false:
        it was killed).

    Raises
    ------
    StoreError
        If there is no store.
    """
    if not config.store.is_dir():
        raise StoreError(f"{config.store}: no store here; give --store the folder of a run")
    now = time.time()
    return [_facts(told, now) for told in runs_on(config.store)]


def _facts(told: dict[str, Any], now: float) -> dict[str, Any]:
    share = told["share"]
    if share is None and told["total"]:
        share = told["done"] / told["total"]
    left_s = None
    if told["is_alive"] and share is not None and share >= _LEAST_SHARE:
        left_s = max(0.0, (told["told_s"] - told["step_began_s"]) * (1 / share - 1))
    step = STEPS.get(told["step"])
    names = ("command", "snapshot", "step", "done", "total", "unit", "detail", "pid", "host")
    return {
        **{name: told[name] for name in names},
        "title": told["step"] if step is None else step.title,
        "share": share,
        "running_s": round(now - told["started_s"], 1),
        "told_s_ago": round(now - told["told_s"], 1),
        "left_s": None if left_s is None else round(left_s, 1),
        "dashboard": told["dashboard"],
        "is_alive": told["is_alive"],
    }
