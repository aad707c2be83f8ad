"""What to do about a snapshot of an earlier version, which lacks something."""

from __future__ import annotations

from pipeline.places.command_lines import command_line
from pipeline.store import Snapshot


def ingest_again(snapshot: Snapshot) -> str:
    """The end of a message: the command that rewrites a snapshot."""
    words = ("ingest", "TRACES", "--snapshot", snapshot.name)
    command = command_line(*words, store=snapshot.path.parents[1])
    return f"{command}, with its tables and options, writes it again"
