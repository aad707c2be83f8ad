"""Results of inference in a laboratory network, compared with its true topology.

    python -m tests.oracles.truth LAB...

A laboratory is a folder of measurements with ``ground_truth.json`` and ``lab.pfx2as*`` beside them,
or a packed one (``.tar.xz``). Files that are the same measurement in two formats
(``x.warts.gz``, ``x.json.gz``) are read once.

What is *visible* (``pipeline.judge``, as are all figures) is compared with ``shown.json`` (in the
folder) or ``LAB.shown.json`` (beside it) where there is one.
"""

from pipeline.judge import Score, Truth, Visible, find_visible, load_truth
from tests.oracles.truth.laboratory import (
    LAB_RANGES,
    Laboratory,
    load_prefixes,
    observe_lab,
    open_lab,
    read_lab,
    true_aliases,
    unpacked,
)
from tests.oracles.truth.scores import judge_lab, judge_owners, score, score_lab

__all__ = [
    "LAB_RANGES",
    "Laboratory",
    "Score",
    "Truth",
    "Visible",
    "find_visible",
    "judge_lab",
    "judge_owners",
    "load_prefixes",
    "load_truth",
    "observe_lab",
    "open_lab",
    "read_lab",
    "score",
    "score_lab",
    "true_aliases",
    "unpacked",
]
