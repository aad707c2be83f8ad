"""What to say where Prefect is not installed; imports nothing of it."""

from __future__ import annotations

import importlib.util


def why_no_prefect(what: str) -> str:
    """Why something that needs Prefect cannot be done, and what to do; empty: Prefect is there."""
    if importlib.util.find_spec("prefect") is not None:
        return ""
    return (
        f"{what} needs Prefect, which is not installed here: pip install 'hopscope[serve]' "
        "(make installs it)"
    )
