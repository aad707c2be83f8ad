"""Results of inference in a laboratory network, compared with its true topology.

    python -m tests.oracles.truth LAB...

A laboratory is a folder of measurements with ``ground_truth.json`` and ``lab.pfx2as*`` beside them,
or a packed one (``.tar.xz``). Files that are the same measurement in two formats
(``x.warts.gz``, ``x.json.gz``) are read once.

*Visible* is what the same traces show if the owner of every address is known. It is computed, and
compared with ``shown.json`` (in the folder) or ``LAB.shown.json`` (beside it) where there is one.
What is found is a part of what is visible.

Figures, each against the truth:

- ingresses (precision, P): an ingress is right if its router is in the AS that it is in, and has
  a link to an AS that is named with it. Candidates are not counted.
- routers right: the same with what is said of one router counted once, on however many nodes; so
  that figures with aliases and without are of the same things. A router is right if one of its
  nodes is; one that is in two ASes counts as two.
- border routers (recall, R): of the visible ones, those that a right ingress is on.
- ASes entered: of the ASes that visible border routers are in, those of border routers found.
- addresses: of all addresses of known routers that answered as routers, those on a node in the
  right AS. No node, or one without an AS, is wrong.
- links: of the visible pairs of routers, those that links of the graphs join, within an AS or
  between two; a node in no AS is in no graph. A pair that is not joined in truth is false. A link
  to a host counts neither way.
- alias pairs: of all pairs of addresses on one node, those of one router; of all pairs of one
  router that answered as routers, those on one node.
- confidence: how often what is stated with some confidence is right; ingresses and candidates as
  for P, addresses as above, without those in no AS.
- hops: over all pairs of a right ingress and another node of a known router that it reaches within
  its AS, measured hops against breadth-first search in the true network of that AS.
"""

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
from tests.oracles.truth.network import Truth, load_truth
from tests.oracles.truth.scores import Score, judge_lab, judge_owners, score, score_lab
from tests.oracles.truth.visible import Visible, find_visible

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
