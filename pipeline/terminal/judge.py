"""Output of ``hopscope judge``: figures, confidence, and what is wrong by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.judge.figures import FIGURES
from pipeline.model.words import number
from pipeline.terminal.lines import print_line

N_KINDS = 12  # that are listed; --json has all


def print_judged(facts: Mapping[str, Any]) -> None:
    """A line of what was judged, then tables."""
    from pipeline.terminal.table import print_table

    truth, shown = facts["truth"], facts["traces"]
    print_line(
        f"Snapshot {facts['judged']['snapshot']} against {truth['plan'] or truth['path']}: "
        f"{number(truth['n_routers'], 'router')}, {number(truth['n_ases'], 'AS')}; "
        f"{number(shown['n'], 'trace')} {shown['source']}"
    )
    left = facts["left_out"]
    print_line(
        f"Left out: {number(left['candidates'], 'candidate')}, "
        f"{number(left['borders_not_visible'], 'border router')} that no trace shows"
    )
    rows = [_figure(FIGURES[name].label, one) for name, one in facts["figures"].items()]
    print_table("Figures", ("share", "figure", "error", "right", "of"), rows, whole_text=True)
    for name, one in facts["figures"].items():
        if one["share"] is None:
            print_line(f"{FIGURES[name].label}: -, {one['reason']}")
    if facts["hops"]["mean_excess"] is not None:
        print_line(f"Measured less true hops: {facts['hops']['mean_excess']:+.2f} on average")
    if facts["confidence"]:
        print_table(
            "Confidence",
            ("class", "of", "stated", "right", "number"),
            [
                (
                    one["class"],
                    one["of"],
                    f"{one['stated']:.3f}",
                    f"{one['share']:.3f}",
                    one["n"],
                )
                for one in facts["confidence"]
            ],
        )
    kinds = sorted(facts["errors"]["kinds"], key=lambda one: -one["n"])
    if kinds:
        print_table(
            "What is wrong, by kind",
            ("what", "kind", "number"),
            [(one["what"], one["kind"], one["n"]) for one in kinds[:N_KINDS]],
            whole_text=True,
        )
    if path := facts["errors"].get("file"):
        print_line(f"{number(sum(one['n'] for one in kinds), 'error')} -> {path}")


def _figure(label: str, one: Mapping[str, Any]) -> tuple[object, ...]:
    share, error = one["share"], one["standard_error"]
    return (
        "-" if share is None else f"{share:.3f}",
        label,
        None if error is None else f"{error:.3f}",
        one["right"],
        one["of"],
    )
