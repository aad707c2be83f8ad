"""Prefix tables of laboratories in which some prefixes have a second, wrong origin.

Real tables have such prefixes: a provider, an AS of the same owner or a stranger announces a prefix
too, or a part of it. Which prefixes, who, and in which order the two are listed follow from a seed.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable, Mapping

from pipeline.model.choices import MAX_ASN


def share_prefixes(
    lines: Iterable[str], neighbors: Mapping[int, set[int]], seed: int, share: float = 0.08
) -> list[str]:
    """Lines of a pfx2as file, some IPv4 ones with a second origin: whole, or their second half.

    Parameters
    ----------
    lines : iterable of str
        ``prefix length origin``.
    neighbors : mapping
        ASes next to each AS.
    seed : int
    share : float
        Of the prefixes of one origin.
    """
    draw = random.Random(seed)
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    ases = sorted({int(origin) for *_, origin in rows if origin.isdecimal()})
    shared = []
    for start, length, origin in rows:
        text = f"{start}\t{length}\t{origin}"
        is_shared = draw.random() < share
        if not is_shared or not origin.isdecimal() or ":" in start or int(length) > 30:
            shared.append(text)
            continue
        own = int(origin)
        near = sorted(neighbors.get(own, set()) - {own}) or ases
        other = draw.choice((draw.choice(near), draw.choice(ases), MAX_ASN - draw.randrange(1000)))
        both = "_".join(map(str, draw.sample((own, other), 2)))
        if draw.random() < 0.5:
            shared.append(f"{start}\t{length}\t{both}")
        else:
            half = list(ipaddress.ip_network(f"{start}/{length}").subnets())[1]
            shared += [text, f"{half.network_address}\t{half.prefixlen}\t{both}"]
    return shared
