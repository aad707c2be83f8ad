"""What tables say of prefixes and organisations, while packets go as before."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from random import Random

from pipeline.generate.networks.night import Night
from pipeline.generate.networks.numbering import Net
from pipeline.generate.networks.planting.plant import Plant, shuffled
from pipeline.generate.networks.planting.ways import Alter, Seen

STRANGER = 4_200_009_999  # an AS that announces nothing else


def table_changed(seen: Seen, random: Random) -> Iterator[Plant]:
    """Half of the block that an AS numbers its routers from is announced by a stranger."""
    asn = random.choice(sorted(seen.ases))
    block = seen.network.numbering.infrastructure[asn]
    half: Net = ip_network((block.network_address, block.prefixlen + 1))

    def alter(night: Night) -> None:
        night.network.origins.append((half, str(STRANGER)))
        night.network.unusual_origins[asn] = f"half announced by {STRANGER}"

    yield _of_table("table-changed", seen, alter, asn, hosts=(str(half),))


def second_origin(seen: Seen, random: Random) -> Iterator[Plant]:
    """The prefix of an AS is announced by a provider of it, too."""
    net = seen.network
    rows = {text: at for at, (_, text) in enumerate(net.origins)}  # one row of each AS
    for asn in shuffled(random, seen.ases):
        above = net.ases.providers[asn]
        if str(asn) not in rows or not above:
            continue
        at, other = rows[str(asn)], random.choice(above)
        prefix = net.origins[at][0]

        def alter(
            night: Night, at: int = at, prefix: Net = prefix, asn: int = asn, other: int = other
        ) -> None:
            night.network.origins[at] = prefix, f"{asn}_{other}"
            night.network.unusual_origins[asn] = f"{asn}_{other}"

        yield _of_table("second-origin", seen, alter, asn, other, hosts=(str(prefix),))


def sibling_gained(seen: Seen, random: Random) -> Iterator[Plant]:
    """An AS comes to the organisation of a neighbour."""
    ases = seen.network.ases
    for asn in shuffled(random, seen.ases):
        near = ases.providers[asn] + ases.customers[asn] + ases.peers[asn]
        near = [other for other in near if not ases.are_siblings(asn, other)]
        if not near or asn in [own for other, own in ases.owner.items() if other != asn]:
            continue
        other = random.choice(near)

        def alter(night: Night, asn: int = asn, other: int = other) -> None:
            owner = night.network.ases.owner
            owner[asn] = owner[other]

        yield _of_table("sibling-gained", seen, alter, asn, other)


def _of_table(
    kind: str, seen: Seen, alter: Alter, *asns: int, hosts: tuple[str, ...] = ()
) -> Plant:
    """Nothing else may differ on its nights: whatever does may be due to the table."""
    return Plant(
        kind, seen.ases[asns[0]], alter, beside=frozenset(asns), hosts=hosts, is_everywhere=True
    )
