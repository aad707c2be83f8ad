"""Serves the explorer until it is stopped."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable

from pipeline.config import ExploreConfig
from pipeline.errors import UsageError, said_by_system
from pipeline.explore.server import ExploreServer
from pipeline.explore.session import Session
from pipeline.pages.local_pages import HOST
from pipeline.store import snapshot_names


def serve_explorer(config: ExploreConfig, say: Callable[[str], None]) -> None:
    """Serve the page, say its address, and open it; until Ctrl-C.

    Raises
    ------
    UsageError
        If the port is taken, or the store has no snapshot.
    StoreError
        If the store is broken.
    """
    if config.store is not None and not snapshot_names(config.store):
        raise UsageError(f"--store {config.store}: no snapshot here")
    with Session(config.store) as session:
        try:
            server = ExploreServer(config.port, session)
        except OSError as error:
            raise UsageError(
                f"port {config.port} of {HOST}: {said_by_system(error)}; give another --port"
            ) from None
        with server:
            say(f"Explorer: {server.url}")
            say("Stop with Ctrl-C")
            sys.stdout.flush()
            if config.open and _has_screen():
                webbrowser.open(server.url)
            server.serve_forever(0.2)


def _has_screen() -> bool:
    """Whether a browser can show anything; one in the terminal would hide the address."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
