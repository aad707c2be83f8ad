"""The figures of a score by name, each with what it is of; what cannot be said has a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.judge.scores import Score
from pipeline.judge.truth import Truth


class _Row(NamedTuple):
    """A figure: its name in words, fields of ``Score``, and why there may be none."""

    label: str
    right: str
    of: str
    none: str


FIGURES: Mapping[str, _Row] = {
    "ingresses": _Row(
        "ingresses right (P)", "ingresses_right", "ingresses", "it states no ingress"
    ),
    "routers": _Row("ingress routers right", "routers_right", "routers", "it states no ingress"),
    "borders": _Row(
        "border routers found (R)",
        "borders_found",
        "borders_visible",
        "no border of known routers is seen",
    ),
    "ases": _Row(
        "ASes entered", "ases_found", "ases_visible", "no border of known routers is seen"
    ),
    "addresses": _Row("addresses in their AS", "addrs_right", "addrs", "no known router answered"),
    "links_right": _Row("links right", "links_found", "links_judged", "it states no link"),
    "links_right_past_tunnels": _Row(
        "links right, of those that are not said to hide routers",
        "plain_links_right",
        "plain_links",
        "it states no such link",
    ),
    "links_found": _Row("links found", "links_found", "links_visible", "traces show no link"),
    "alias_pairs_right": _Row(
        "alias pairs right", "alias_pairs_right", "alias_pairs", "it joins no addresses"
    ),
    "alias_pairs_found": _Row(
        "alias pairs found",
        "alias_pairs_found",
        "alias_pairs_visible",
        "no router answered from two addresses",
    ),
    "hops": _Row("hops equal", "hops_equal", "hop_pairs", "a right ingress reaches nothing"),
    "hops_past_tunnels": _Row(
        "hops equal, not across links that may hide routers",
        "past_equal",
        "past_pairs",
        "a right ingress reaches nothing",
    ),
    "hops_at_best": _Row(
        "hops equal if all that traces show were known",
        "best_equal",
        "best_pairs",
        "traces show no router behind a border",
    ),
}


@dataclass(frozen=True)
class Figure:
    """A share of things that are right.

    Attributes
    ----------
    label : str
    right, of : int or None
        None: it cannot be said, see ``reason``.
    error : float or None
        Standard error of the share, by the spread between ASes; None in fewer than two.
    reason : str
        Why there is no share; empty where there is one.
    """

    label: str
    right: int | None
    of: int | None
    error: float | None = None
    reason: str = ""

    @property
    def share(self) -> float | None:
        return self.right / self.of if self.of and self.right is not None else None

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "right": self.right,
            "of": self.of,
            "share": self.share,
            "standard_error": self.error,
            "reason": self.reason or None,
        }


def figures_of(score: Score, unsaid: Mapping[str, str]) -> dict[str, Figure]:
    """All figures by name.

    Parameters
    ----------
    score : Score
    unsaid : mapping
        Reasons by name, of figures of which the output, or the truth, says nothing.
    """
    found = {}
    for name, row in FIGURES.items():
        if reason := unsaid.get(name):
            found[name] = Figure(row.label, None, None, reason=reason)
            continue
        right, of = getattr(score, row.right), getattr(score, row.of)
        if of:
            found[name] = Figure(row.label, right, of, score.errors.get(name))
        else:
            found[name] = Figure(row.label, right, of, reason=row.none)
    return found


_OF_INGRESSES = ("ingresses", "routers", "borders", "ases")
_PAST_TUNNELS = ("links_right_past_tunnels", "hops_past_tunnels")
_OF_LINKS = ("links_right", *_PAST_TUNNELS, "links_found", "hops", "hops_at_best")
_OF_ALIASES = ("alias_pairs_right", "alias_pairs_found")


def unsaid(
    truth: Truth,
    *,
    has_traces: bool,
    has_links: bool,
    has_routers: bool,
    has_tunnels: bool,
    has_owners: bool = True,
) -> dict[str, str]:
    """Why figures cannot be said, by name.

    Parameters
    ----------
    truth : Truth
    has_traces : bool
        Traces say what can be found.
    has_links, has_routers : bool
        The output has links of its own, and joins addresses to routers.
    has_tunnels : bool
        It marks links that may hide routers.
    has_owners : bool
        It says an AS of any router.
    """
    reasons: dict[str, str] = {}
    if not has_tunnels:
        reasons |= dict.fromkeys(_PAST_TUNNELS, "the output marks no links that may hide routers")
    if not has_traces:
        reasons |= dict.fromkeys(_OF_INGRESSES, "no traces say where ASes are entered")
        reasons |= dict.fromkeys(_OF_LINKS[1:], "no traces say what can be found")
    if not truth.has_links:
        reasons |= dict.fromkeys(
            (*_OF_INGRESSES, *_OF_LINKS), "the truth says nothing of links, nor of neighbours"
        )
    if not has_owners:  # links count in graphs of ASes
        none = "the output says nothing of owners"
        reasons |= dict.fromkeys((*_OF_INGRESSES, *_OF_LINKS, "addresses"), none)
    if not has_links:
        reasons |= dict.fromkeys(_OF_LINKS, "the output says nothing of links")
    if not has_routers:
        reasons |= dict.fromkeys(_OF_ALIASES, "the output joins no addresses to routers")
    return reasons
