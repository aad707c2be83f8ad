"""Output of the commands that change what is in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.model.words import size_text
from pipeline.terminal.lines import print_line


def print_removed(removed: Sequence[Mapping[str, Any]]) -> None:
    """One line per snapshot."""
    for each in removed:
        print_line(f"Snapshot {each['snapshot']} is removed ({size_text(each['size_bytes'])})")


def print_renamed(renamed: Mapping[str, Any]) -> None:
    """The new name, and what it means for reports."""
    print_line(
        f"Snapshot {renamed['snapshot']} is now {renamed['name']}; its reports keep the old name: "
        f"`hopscope analyze --snapshot {renamed['name']}` writes new ones from kept results"
    )


def print_restored(restored: Mapping[str, Any]) -> None:
    """What is there now, and what is kept in turn."""
    from pipeline.stages.contents.replaced import holds_text

    name, before = restored["snapshot"], restored["before"]
    print_line(f"Snapshot {name} holds what it held before: {holds_text(restored['now'])}")
    if before is not None:
        print_line(
            f"Kept in its place: {holds_text(before)}; `hopscope restore {name}` swaps them again"
        )
