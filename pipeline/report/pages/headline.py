"""The first sentence of the index: who is entered where, how far in, how much is unreached."""

from __future__ import annotations

import numpy as np

from pipeline.model.words import number
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.tables.summarise import Summary


def headline(summary: Summary, run: RunFacts) -> str:
    """What the report says in one sentence; plain text.

    Parameters
    ----------
    summary : Summary
    run : RunFacts
        Of the whole run.
    """
    totals = summary.totals
    n_entered = totals["n_ases"] - totals["n_without_ingress"]
    if not n_entered:
        return f"No {run.whole.noun} of this report has an ingress, so there are no hops to count."
    ases = run.graphs(totals["n_ases"])
    if n_entered < totals["n_ases"]:
        ases = f"{n_entered:,} of {ases}"
    if run.declared:
        has = "has" if n_entered == 1 else "have"
        parts = [f"{ases} {has} {number(totals['n_ingresses'], 'ingress')}"]
    else:
        parts = [f"Traffic enters {ases} by {number(totals['n_ingresses'], run.noun)}"]
    pairs = np.array(totals["hop_counts"], np.int64)
    if totals["n_pairs"]:
        half = int(np.searchsorted(np.cumsum(pairs), totals["n_pairs"] / 2))
        parts.append(f"half of what an ingress reaches lies within {number(half, 'hop')} of it")
    if totals["n_unreached"]:
        parts.append(f"{run.unreached_share} of the {run.nouns} are unreached")
    return "; ".join(parts) + "."
