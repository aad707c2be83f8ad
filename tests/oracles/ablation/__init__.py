"""What each rule of inference gains: networks of known truth, judged with each rule left out.

    python -m tests.oracles.ablation FAMILY... --seeds FIRST-LAST [--rules NAME...] [--workers N]

A family is a kind of ``tests.oracles.networks`` or ``laboratories``, or either with ``:WAY`` behind
it, which says what is known beside traces and prefixes; see ``tests.oracles.truth`` for the ways,
and for how a network is judged. What a rule gains in a network is a figure with all rules minus the
same without it, so what is good has a plus. Of a family, the mean over its networks is given, and
its standard error by the spread of these differences: both judgements are of the same traces.

Figures are shares between 0 and 1:

- P: ingresses that are right.
- R: visible border routers that are found.
- links: of the pairs of routers that are linked visibly, or stated to be linked, those that are
  both; so neither more links nor fewer are better by themselves.
- hops: pairs of an ingress and a router at the right number of hops.
- pairs: of pairs of addresses that are of one router, visibly or as stated, those that are both.
"""
