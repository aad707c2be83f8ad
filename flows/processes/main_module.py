"""Processes that a stage starts must not load Prefect.

A process that multiprocessing spawns (readers, Dask workers) first imports the main module of its
parent. In a flow run that is Prefect's engine, or the nightly flow: two seconds each, and
Prefect's log handlers in every worker. Nothing that stages send to processes is defined in the main
module, so it can be hidden from them.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without_main_module() -> Iterator[None]:
    """Let processes that start inside the context run without this process's main module."""
    main = sys.modules["__main__"]
    hidden = {name: vars(main)[name] for name in ("__spec__", "__file__") if vars(main).get(name)}
    # As in an interactive session: multiprocessing finds no name and no path to import again.
    for name in hidden:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)
