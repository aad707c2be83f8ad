"""Exchange points: their LANs, names and members, from the files that registries publish.

Recognised by content, plain or compressed (``entries``):

- lists of prefixes, one per line, with a name and an AS number where there are some;
- PeeringDB [1]_: answers of its API (``ix``, ``ixlan``, ``ixpfx``, ``netixlan``, one or several in
  one object, nested or not) and the daily dumps of all of it that CAIDA keeps;
- the subnets of PCH's directory [2]_, JSON or a table with a header, and its members of a subnet;
- CAIDA's ``ixs`` and ``ix-asns`` [3]_, JSON lines or a JSON list.

Members are entered by hand, and some entries are old: the address of one may now be another's. So
they are evidence for the election, not the truth; where two are registered with one address, both
are kept. An entry for the AS of the exchange point itself is not that of a member.

References
----------
.. [1] PeeringDB, "API documentation", https://www.peeringdb.com/apidocs.
.. [2] Packet Clearing House, "Internet exchange point datasets", https://www.pch.net/ixp/data.
.. [3] CAIDA, "Internet eXchange Points (IXPs) Dataset", https://www.caida.org/data/ixps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.ingest.tables.exchanges.entries import Entries, read_entries, refuse
from pipeline.ingest.tables.lines import Blocks
from pipeline.model.addresses import format_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.intervals import Network, prefix_range, table_of
from pipeline.model.topology import NO_ASN


def read_exchanges(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> ExchangePoints:
    """Read files about exchange points into one table.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file. If a LAN has several names, the first counts.
    reports : sequence of ReadReport
        One per file, filled: what was used as ``n_records``, broken entries by reason. A file that
        cannot be read or used has status ``rejected`` and says why in ``error``, and so has one
        with names alone, if none has a LAN; nothing is raised for it. A file of a known form
        without entries, such as a dump of an empty PeeringDB, is valid.
    """
    entries = Entries()
    for blocks, report in zip(files, reports, strict=True):
        read_entries(blocks, report, entries)
    if not entries.lans and not entries.members:
        for report in reports:
            if report.n_records:  # names alone
                refuse(report)
        return ExchangePoints.none()
    return join_entries(entries, next(each for each in reports if each.n_records))


def join_entries(entries: Entries, report: ReadReport) -> ExchangePoints:
    """One table of all entries; oddities between files are noted in a report."""
    named: dict[Network, str] = {}
    for network, given, lan in entries.lans:
        name = given or entries.name_of(lan)
        if named.setdefault(network, name) != name and name:
            if named[network]:
                report.notes["LANs listed again with another name"] += 1
            else:
                named[network] = name
    members = {(addr, asn): lan for addr, asn, lan in entries.members if asn not in entries.own}
    own = len({(addr, asn) for addr, asn, _ in entries.members}) - len(members)
    if own:
        report.notes["entries of exchange points themselves"] += own
    ranges = {prefix_range(network): name or str(network) for network, name in named.items()}
    if not named:  # members alone: their addresses are all that is known of the LANs
        for (words, _), lan in members.items():
            ranges.setdefault((words, words), entries.name_of(lan) or format_addr(*words))
    names = tuple(dict.fromkeys(ranges.values()))
    row_of = {name: i for i, name in enumerate(names)}
    rows = sorted(ranges.items(), key=lambda entry: (entry[0][0], [-w for w in entry[0][1]]))
    bounds = np.array([bound for bound, _ in rows], np.uint64).reshape(len(rows), 2, 2)
    values = np.array([row_of[name] for _, name in rows], np.int64)
    lans = table_of(bounds[:, 0].copy(), bounds[:, 1].copy(), values)
    addr = np.array([words for words, _ in members], np.uint64).reshape(len(members), 2)
    asn = np.array([number for _, number in members], np.int64)
    on_lan = lans.lookup(addr) != NO_ASN
    if not on_lan.all():
        report.notes["members outside every LAN, left out"] += int(np.count_nonzero(~on_lan))
    addr, asn = addr[on_lan], asn[on_lan]
    order = np.lexsort((asn, addr[:, 1], addr[:, 0]))
    addr, asn = addr[order], asn[order]
    twice = int(np.count_nonzero((addr[1:] == addr[:-1]).all(axis=1)))
    if twice:
        report.notes["addresses of two members"] += twice
    return ExchangePoints(lans, names, addr, asn, tuple(sorted(named, key=str)))
