"""Links that alias sets swallow, though traces show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SwallowedLinks:
    """Links between two addresses of one given alias set.

    Two addresses that a trace shows one right after the other are mostly on two routers, so a set
    that holds both is doubtful; as one node it has no link between them.

    Attributes
    ----------
    n_links : int
        Pairs of addresses of which some trace shows one right after the other as routers.
    n_sets : int
        Sets with such a pair.
    largest_addr : str
        Smallest address of the largest of these sets that answered; empty if there is none.
    n_largest : int
        Addresses that this set has in the file.
    """

    n_links: int
    n_sets: int = 0
    largest_addr: str = ""
    n_largest: int = 0
