"""Operators write into host names of interfaces whose router an address is on.

Rules that others learned read that (``model.tables.named_owners``). What a name says is taken for
as sure as its rule was right where it was counted, but for no more than ``named_most``: names of an
address that is in use elsewhere now are rarely removed, and a rule is counted on what others
inferred. Each name of a router counts; a name that several of its addresses have counts once.
"""

from __future__ import annotations

from pipeline.infer.rule import Rule

TERM = Rule(
    "host-names",
    "owners",
    "a router is in the AS that its host names say",
    "host names, and rules that read ASes from them (--host-names, --name-rules)",
    "derived: how often each rule was right; the bound is chosen",
    "Hoiho (Luckie et al., IMC 2020)",
    {"named_most": 3.0},
    piece=("host name", "that says another AS"),
)
