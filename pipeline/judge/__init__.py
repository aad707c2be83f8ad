"""What a method says of a network, compared with what is true of it.

*Visible* is what the same traces show if the owner of every address is known. It is computed. What
is found is a part of what is visible.

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

A standard error is that of a single network, by the spread between its ASes.
"""

from pipeline.judge.loading import load_truth
from pipeline.judge.scores import Score, score
from pipeline.judge.truth import Truth
from pipeline.judge.visible import Visible, find_visible
from pipeline.model.choices import TRUTH

__all__ = ["TRUTH", "Score", "Truth", "Visible", "find_visible", "load_truth", "score"]
