"""Output of the commands that change what is in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.model.words import size_text
from pipeline.places.command_lines import command_line
from pipeline.terminal.lines import print_line


def print_removed(removed: Sequence[Mapping[str, Any]]) -> None:
    """One line per snapshot."""
    for each in removed:
        print_line(f"Snapshot {each['snapshot']} is removed ({size_text(each['size_bytes'])})")


def print_renamed(renamed: Mapping[str, Any]) -> None:
    """The new name, and what it means for reports."""
    new = renamed["name"]
    command = command_line("analyze", "--snapshot", new, store=renamed["store"])
    print_line(
        f"Snapshot {renamed['snapshot']} is now {new}; its reports keep the old name: {command} "
        "writes new ones from kept results"
    )


def print_restored(restored: Mapping[str, Any]) -> None:
    """What is there now, and what is kept in turn."""
    from pipeline.stages.contents.replaced import holds_text

    name, before = restored["snapshot"], restored["before"]
    print_line(f"Snapshot {name} holds what it held before: {holds_text(restored['now'])}")
    if before is not None:
        command = command_line("restore", name, store=before["store"])
        print_line(f"Kept in its place: {holds_text(before)}; {command} swaps them again")
