"""Output of ``hopscope judge``: figures, confidence, and what is wrong by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.judge.figures import FIGURES
from pipeline.model.words import number
from pipeline.terminal.lines import print_line

N_KINDS = 12  # that are listed; --json has all
_LEFT_OUT: Mapping[str, Callable[[int], str]] = {
    "candidates": lambda n: number(n, "candidate"),
    "borders_not_visible": lambda n: f"{number(n, 'border router')} that no trace shows",
    "ingresses_not_judged": lambda n: f"{number(n, 'ingress')} at unknown routers",
}


def print_judged(facts: Mapping[str, Any]) -> None:
    """A line of what was judged, then tables."""
    from pipeline.terminal.table import print_table

    truth, shown, judged = facts["truth"], facts["traces"], facts["judged"]
    what = f"Snapshot {judged['snapshot']}" if "snapshot" in judged else judged["path"]
    traces = "no traces" if shown["source"] is None else _traces(shown)
    print_line(
        f"{what} against {truth['plan'] or truth['path']}: {number(truth['n_routers'], 'router')}, "
        f"{number(truth['n_ases'], 'AS')}; {traces}"
    )
    known = facts["addresses"]
    print_line(f"It names {number(known['stated'], 'address')}, {known['known']:,} of them known")
    left = {what: n for what, n in facts["left_out"].items() if n}
    if shown["source"] is not None and left:
        print_line(f"Left out: {', '.join(_LEFT_OUT[what](n) for what, n in left.items())}")
    rows = [_figure(FIGURES[name].label, one) for name, one in facts["figures"].items()]
    print_table("Figures", ("share", "figure", "error", "right", "of"), rows, whole_text=True)
    for reason, names in _reasons(facts["figures"]).items():
        print_line(f"Not said: {', '.join(names)} ({reason})")
    if facts["hops"]["mean_excess"] is not None:
        print_line(f"Measured less true hops: {facts['hops']['mean_excess']:+.2f} on average")
    if facts["confidence"]:
        print_table(
            "Confidence",
            ("class", "of", "stated", "right", "error", "number"),
            [
                (
                    one["class"],
                    one["of"],
                    f"{one['stated']:.3f}",
                    f"{one['share']:.3f}",
                    _error(one),
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


def _traces(shown: Mapping[str, Any]) -> str:
    return f"{number(shown['n'], 'trace')} {shown['source']}"


def _reasons(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Figures that cannot be said, by the reason."""
    reasons: dict[str, list[str]] = {}
    for name, one in figures.items():
        if one["share"] is None:
            reasons.setdefault(one["reason"], []).append(FIGURES[name].label)
    return reasons


def _figure(label: str, one: Mapping[str, Any]) -> tuple[object, ...]:
    share = one["share"]
    return (
        "-" if share is None else f"{share:.3f}",
        label,
        _error(one),
        one["right"],
        one["of"],
    )


def _error(one: Mapping[str, Any]) -> str | None:
    error = one["standard_error"]
    return None if error is None else f"{error:.3f}"
