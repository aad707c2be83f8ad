"""The first sentences of the page of an AS: who enters it, how far in, how well it is known."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from pipeline.model.words import number
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.texts import share, short


def opening(a: dict[str, Any], run: RunFacts) -> Markup:
    """What the page says in one sentence.

    Parameters
    ----------
    a : dict
        Variables of the page, as ``as_pages`` gives them.
    run : RunFacts
        Worded for this AS.
    """
    return Markup("; ").join([_entered(a, run), *_hops(a, run), *_unreached(a)]) + "."


def quality(a: dict[str, Any], run: RunFacts) -> list[str]:
    """Sentences on what the page is based on; none of an AS that was not measured by traces."""
    found = []
    if a["crossing"]:
        n_traces, n_vantages = a["crossing"]
        verb = "crosses" if n_traces == 1 else "cross"
        found.append(
            f"{number(n_traces, 'trace')} from {number(n_vantages, 'vantage point')} {verb} it."
        )
    if n := a["n_low_confidence"]:
        all_ = a["n_ingresses"]
        which = "its ingress" if all_ == 1 else f"{n:,} of its {all_:,} ingresses"
        found.append(f"Low ingress confidence: {which} may well be wrong.")
    return found


def _entered(a: dict[str, Any], run: RunFacts) -> Markup:
    asn, n = a["asn"], a["n_ingresses"]
    if n == 0:
        return _not_entered(a, run)
    if a["chosen"]:
        which = f"The only {run.noun}" if a["n_nodes"] == 1 else number(n, run.noun)
        as_what = "was drawn as its ingress" if n == 1 else "were drawn as ingresses"
        return Markup("{} of AS{} {}").format(which, asn, as_what)
    ways = f"its only {run.noun}" if a["n_nodes"] == 1 else number(n, run.noun)
    entries = a["entries"]
    if entries is None:
        if run.declared:
            return Markup("AS{} has links from other ASes at {}").format(asn, ways)
        return Markup("Traffic enters AS{} by {}").format(asn, ways)
    top, n_traces = entries.top, entries.n_traces
    name = Markup(" <bdi>{}</bdi>").format(short(top.name)) if top.name else ""
    neighbor = Markup("AS{}{}").format(top.asn, name)
    if top.linked:
        neighbor = Markup('<a href="{}.html">{}</a>').format(top.asn, neighbor)
    if top.n_traces == n_traces:
        of = f"({number(n_traces, 'trace')})"
        return Markup("Traffic enters AS{} by {}, all from {} {}").format(asn, ways, neighbor, of)
    mostly = "mostly" if 2 * top.n_traces > n_traces else "most often"
    of = f"({top.n_traces:,} of {n_traces:,} traces)"
    return Markup("Traffic enters AS{} by {}, {} from {} {}").format(
        asn, ways, mostly, neighbor, of
    )


def _not_entered(a: dict[str, Any], run: RunFacts) -> Markup:
    asn, n_nodes = a["asn"], a["n_nodes"]
    if run.declared:
        why = f"AS{asn} has no link from another AS"
    elif a["n_candidates"]:
        n = a["n_candidates"]
        why = (
            f"No trace was seen to enter AS{asn} right after an answer from another AS, only after "
            f"gaps, at {number(n, 'candidate')}"
        )
    else:
        why = f"No trace was seen to enter AS{asn}"
    what = f"its only {run.noun}" if n_nodes == 1 else f"its {number(n_nodes, run.noun)}"
    return escape(f"{why}, so there are no hop counts of {what}")


def _hops(a: dict[str, Any], run: RunFacts) -> list[str]:
    if a["status"] == "failed":
        return ["no search of it finished, so there are no hop counts"]
    if a["half_within"] is None:
        if a["n_ingresses"] == 0 or a["n_nodes"] == 1 or a["status"] != "ok":
            return []
        if a["n_ingresses"] == 1:
            return [f"it reaches no other {run.noun}"]
        return [f"none of them reaches another {run.noun}"]
    hops = number(a["half_within"], "hop")
    if a["n_nodes"] == 2:
        return [f"the other {run.noun} lies {hops} away"]
    if a["n_ingresses"] == 1:
        return [f"half of the {run.nouns} that it reaches lie within {hops}"]
    return [f"half of the {run.nouns} reached lie within {hops}"]


def _unreached(a: dict[str, Any]) -> list[str]:
    if a["n_ingresses"] == 0 or a["status"] == "failed" or a["n_nodes"] == 1:
        return []
    n = a["n_unreached"]
    if n == 0:
        return ["all are reached"] if a["n_nodes"] > 2 else []
    return [f"{share(n, a['n_nodes'])} {'is' if n == 1 else 'are'} unreached"]
