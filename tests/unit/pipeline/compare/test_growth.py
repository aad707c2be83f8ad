"""ASes that grow by more than comes and goes by chance."""

from __future__ import annotations

import numpy as np

from pipeline.compare import compare_nights
from pipeline.compare.night import Night


def night(routers: dict[int, list[int]], ingresses: dict[int, int] | None = None) -> Night:
    """Each AS is a path of its routers, whose addresses are numbers; the first ones are ingresses.

    ``ingresses``: how many of each AS, none where it is not named.
    """
    asn = np.array(sorted(routers))
    sizes = [len(routers[a]) for a in asn]
    ptr = np.append(0, np.cumsum(sizes))
    addr = np.array([[0, 0xFFFF_0000_0000 + n] for a in asn for n in routers[a]], np.uint64)
    inner = [at + i for at, n in zip(ptr, sizes, strict=False) for i in range(n - 1)]
    entered = [
        at + i for at, a in zip(ptr, asn, strict=False) for i in range((ingresses or {}).get(a, 0))
    ]
    n = len(addr)
    return Night(
        "night",
        asn.astype(np.int64),
        ptr.astype(np.int64),
        addr,
        np.arange(n),
        np.array(inner, np.int64),
        np.array(inner, np.int64) + 1,
        np.array(entered, np.int64),
        np.arange(len(entered) + 1),
        np.full(len(entered), 9),
        np.repeat(ptr[:-1], sizes),
        addr,
    )


def said(old: Night, new: Night) -> dict[tuple[int, str], tuple[str, float, float]]:
    changes, _ = compare_nights(old, new)
    rows = np.flatnonzero(np.isin(changes.kind, ["grew", "shrank"]))
    assert (changes.event[rows] == -1).all()  # listed, and no event by itself
    return {
        (changes.asn[i], changes.what[i]): (changes.kind[i], changes.old[i], changes.new[i])
        for i in rows
    }


def test_growth_is_said_of_routers_links_and_ingresses_and_back():
    small = night({7: [*range(100)], 8: [*range(1000, 1050)]}, {7: 2})
    large = night({7: [*range(160)], 8: [*range(1000, 1050)]}, {7: 40})
    grown = {
        (7, "routers"): ("grew", 100, 160),
        (7, "links"): ("grew", 99, 159),
        (7, "ingresses"): ("grew", 2, 40),
    }
    assert said(small, large) == grown
    assert said(large, small) == {
        key: ("shrank", after, before) for key, (_, before, after) in grown.items()
    }


def test_what_comes_and_goes_by_chance_is_no_growth():
    rng = np.random.default_rng(3)
    wide = np.arange(2000)
    for _ in range(20):  # a fifth of 2,000 routers is seen on one night alone
        old, new = (sorted(rng.choice(wide, 1800, replace=False).tolist()) for _ in range(2))
        assert said(night({7: old}), night({7: new})) == {}
    # Half more of few things: five at least are needed, and more than chance makes.
    assert said(night({7: [*range(8)]}), night({7: [*range(12)]})) == {}
    assert said(night({7: [*range(100)]}), night({7: [*range(20, 130)]})) == {}
    assert said(night({7: [*range(1000)]}), night({7: [*range(1090)]})) == {}  # less than a tenth
