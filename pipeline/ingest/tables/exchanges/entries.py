"""Files about exchange points: each recognised by what its entries look like (``exchanges``)."""

from __future__ import annotations

import csv
import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from pipeline.ingest.tables.lines import Blocks, read_whole
from pipeline.json_text import parse_json
from pipeline.model.addresses import MAPPED_V4, parse_addr
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.intervals import Network
from pipeline.model.words import UNPRINTABLE

FORMAT = "exchange points"
MAX_FILE_BYTES = 1 << 29  # decompressed; a dump of all of PeeringDB has 100 MB
MAX_NAME = 200  # characters; longer ones are cut
# Wider prefixes are not LANs: the widest have some thousand members.
_SHORTEST = {4: 19, 6: 32}
_ASN = re.compile(r"(?:AS)?([0-9]{1,10})\Z", re.IGNORECASE)
# Columns of a table with a header, each by the names that it has in the files.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "prefix": ("prefix", "subnet", "lan", "network", "peeringlan"),
    "name": ("name", "short_name", "short", "ixp", "ix", "long_name"),
    "asn": ("asn", "rs_asn", "ixp_asn"),
    "status": ("status", "stat"),
}
_IN_USE = ("ok", "active")
_STRANGE = "entry without a LAN or a member"

Record = Mapping[str, Any]


@dataclass
class Entries:
    """What files say, as it is read. Exchange points of PeeringDB are joined by their numbers.

    Attributes
    ----------
    lans : list of (Network, str, int or None)
        Prefix, name (empty: none) and number of the LAN in PeeringDB.
    members : list of (addr, asn, number of the LAN or None)
        ``addr`` as two words.
    names : dict of int to str
        Of exchange points in PeeringDB, by number.
    exchange_of : dict of int to int
        Number of the exchange point that a LAN belongs to.
    lan_names : dict of int to str
        Name of the exchange point as members' entries have it, by number of the LAN.
    own : set of int
        AS numbers of exchange points.
    """

    lans: list[tuple[Network, str, int | None]] = field(default_factory=list)
    members: list[tuple[tuple[int, int], int, int | None]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    exchange_of: dict[int, int] = field(default_factory=dict)
    lan_names: dict[int, str] = field(default_factory=dict)
    own: set[int] = field(default_factory=set)

    def name_of(self, lan: int | None) -> str:
        """Name of the exchange point of a LAN of PeeringDB; empty if there is none."""
        if lan is None:
            return ""
        # If nothing says whose LAN it is, its own number is used: PeeringDB gives both the same.
        return self.names.get(self.exchange_of.get(lan, lan), "") or self.lan_names.get(lan, "")


def read_entries(blocks: Blocks, report: ReadReport, entries: Entries) -> None:
    """Add what one file says; faults go to the report, nothing is raised."""
    report.format = FORMAT
    data = read_whole(blocks, report, MAX_FILE_BYTES)
    if report.status == "rejected":
        return
    if report.error:  # cut short: the last line may have lost its end
        data = data[: data.rfind(b"\n") + 1]
    text = data.decode("utf-8", "replace")
    reader = _Reader(report, entries)
    if _first_line(text).startswith(("{", "[")):
        for place, value in _json_values(text, report):
            reader.read_json(place, value)
    else:
        reader.read_table(text)
    if not report.n_records and not reader.is_valid_but_empty:
        refuse(report)


def refuse(report: ReadReport) -> None:
    """Mark a file as one that says nothing."""
    report.refuse_empty(
        "no LAN of an exchange point and no member in it; give a list of prefixes, "
        "a JSON file of PeeringDB or PCH, or CAIDA's ixs"
    )


def _first_line(text: str) -> str:
    """The first line that is neither empty nor a comment."""
    lines = (line.strip() for line in text.splitlines()[:100])
    return next((line for line in lines if line and not line.startswith("#")), "")


def _json_values(text: str, report: ReadReport) -> Iterator[tuple[str, Any]]:
    """One value, or one per line."""
    try:
        whole = parse_json(text)
    except orjson.JSONDecodeError:
        whole = None
    if whole is not None:
        yield "", whole
        return
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            try:
                yield f"line {number}", parse_json(line)
            except orjson.JSONDecodeError as error:
                report.reject(f"line {number}", "not valid JSON", f"{error.msg}: {line[:100]}")


def _network(value: Any) -> Network:
    """A LAN; raises ValueError with a fixed phrase."""
    if not isinstance(value, str) or "/" not in value:
        raise ValueError("not a prefix")
    try:
        network = ipaddress.ip_network(value.strip())
    except ValueError as error:
        bits = "has host bits set" in str(error)
        raise ValueError("bits set beyond the prefix length" if bits else "not a prefix") from None
    if network.prefixlen < _SHORTEST[network.version]:
        raise ValueError("wider than a LAN")
    if isinstance(network, ipaddress.IPv6Network) and network.overlaps(MAPPED_V4):
        raise ValueError("covers IPv4-mapped space")
    return network


def _asn(value: Any) -> int | None:
    """An AS number; None if it is not one."""
    if isinstance(value, str) and (match := _ASN.match(value.strip())):
        value = int(match[1])
    well = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_ASN
    return value if well else None


def _number(value: Any) -> int | None:
    """The number of an entry; some files have it as text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Reader:
    """Reads one file into ``Entries``."""

    def __init__(self, report: ReadReport, entries: Entries) -> None:
        self.report = report
        self.entries = entries
        self._is_known = False  # by its keys or its header

    @property
    def is_valid_but_empty(self) -> bool:
        """Whether a file without an entry to use says by its form what it is."""
        return self._is_known and not self.report.rejected and _STRANGE not in self.report.skipped

    def read_json(self, place: str, value: Any) -> None:
        """Read the one value of a file, or that of a line."""
        if isinstance(value, dict):
            kinds = {"ix": self._ix, "ixlan": self._ixlan, "ixpfx": self._ixpfx}
            tables: dict[str, Callable] = {**kinds, "netixlan": self._netixlan}
            if found := [key for key in tables if isinstance(value.get(key), (dict, list))]:
                self._is_known = True
                for key in found:  # a dump of several tables
                    table = value[key]
                    rows = table.get("data") if isinstance(table, dict) else table
                    self._rows(f"{key} ", rows, tables[key])
            elif isinstance(value.get("data"), list):
                self._is_known = True
                self._rows("entry ", value["data"], self._record)
            elif any(isinstance(value.get(key), dict) for key in ("IPv4", "IPv6")):
                self._is_known = True
                for key in ("IPv4", "IPv6"):  # PCH's members of a subnet
                    table = value.get(key)
                    rows = list(table.values()) if isinstance(table, dict) else []
                    self._rows(f"{key} ", rows, self._pch_member)
            else:
                self._rows(place, [value], self._record)
        elif isinstance(value, list):
            self._is_known = True
            self._rows("entry ", value, self._record)
        else:
            self.report.reject(place or "file", "not an entry", repr(value)[:100])

    def _rows(self, place: str, rows: Any, read: Callable[[str, Record], None]) -> None:
        for number, row in enumerate(_list(rows), start=1):
            where = f"{place}{number}" if place.endswith(" ") else place or "file"
            if isinstance(row, dict):
                read(where, row)
            else:
                self.report.reject(where, "not an entry", repr(row)[:100])

    def _record(self, place: str, row: Record) -> None:
        """An entry of a file that does not say what its entries are."""
        if "ipaddr4" in row or "ipaddr6" in row:
            self._netixlan(place, row)
        elif "prefixes" in row:
            self._caida_ix(place, row)
        elif "subnet" in row:
            self._pch_subnet(place, row)
        elif "prefix" in row and "ixlan_id" in row:
            self._ixpfx(place, row)
        elif "asn" in row and ("ipv4" in row or "ipv6" in row):
            self._caida_member(place, row)
        elif "ixpfx_set" in row or "rs_asn" in row or "ix_id" in row:
            self._ixlan(place, row)
        elif "ixlan_set" in row or ("name" in row and "id" in row):
            self._ix(place, row)
        elif "prefix" in row:
            self._lan(place, row["prefix"], row.get("name"), None)
        else:
            self.report.skip(_STRANGE)

    def _in_use(self, row: Record) -> bool:
        """Whether an entry is current; entries without a status are."""
        status = row.get("status", "ok")
        used = status is None or str(status).lower() in _IN_USE
        if not used:
            self.report.skip(f"status {self._plain(str(status))[:20]}")
        return used

    def _plain(self, name: Any) -> str:
        """A name on one line; empty if it is not a text."""
        if not isinstance(name, str):
            return ""
        plain = UNPRINTABLE.sub("", name).strip()
        if plain != name.strip():
            self.report.notes["names with control characters, removed"] += 1
        if len(plain) > MAX_NAME:
            self.report.notes[f"names cut to {MAX_NAME} characters"] += 1
        return plain[:MAX_NAME]

    def _lan(self, place: str, prefix: Any, name: Any, lan: int | None) -> None:
        try:
            network = _network(prefix)
        except ValueError as error:
            self.report.reject(place, str(error), repr(prefix)[:100])
            return
        self.entries.lans.append((network, self._plain(name), lan))
        self.report.n_records += 1

    def _member(self, place: str, addr: Any, asn: Any, lan: int | None) -> None:
        number = _asn(asn)
        if number is None:
            self.report.reject(place, "not an AS number", repr(asn)[:100])
            return
        try:
            words = parse_addr(addr.strip())
        except (ValueError, AttributeError):
            self.report.reject(place, "not an address", repr(addr)[:100])
            return
        self.entries.members.append((words, number, lan))
        self.report.n_records += 1

    def _ix(self, place: str, row: Record) -> None:
        number = _number(row.get("id"))
        if number is not None and (name := self._plain(row.get("name"))):
            self.entries.names.setdefault(number, name)
            self.report.n_records += 1
        for each in _list(row.get("ixlan_set")):
            if isinstance(each, dict):
                self._ixlan(place, {"ix_id": number, **each})
        self._sets(place, row, number)

    def _ixlan(self, place: str, row: Record) -> None:
        lan, exchange = _number(row.get("id")), _number(row.get("ix_id"))
        if lan is not None and exchange is not None:
            self.entries.exchange_of.setdefault(lan, exchange)
            self.report.n_records += 1
        if (asn := _asn(row.get("rs_asn"))) is not None:
            self.entries.own.add(asn)
        self._sets(place, row, lan)

    def _sets(self, place: str, row: Record, lan: int | None) -> None:
        """Entries inside that of an exchange point or of its LAN."""
        for key, read in (("ixpfx_set", self._ixpfx), ("netixlan_set", self._netixlan)):
            for each in _list(row.get(key)):
                if isinstance(each, dict):
                    read(place, {"ixlan_id": lan, **each})

    def _ixpfx(self, place: str, row: Record) -> None:
        if self._in_use(row):
            self._lan(place, row.get("prefix"), None, _number(row.get("ixlan_id")))

    def _netixlan(self, place: str, row: Record) -> None:
        if not self._in_use(row):
            return
        if row.get("operational") is False:
            self.report.skip("member not connected")
            return
        lan, exchange = _number(row.get("ixlan_id")), _number(row.get("ix_id"))
        if lan is not None and exchange is not None:
            self.entries.exchange_of.setdefault(lan, exchange)
        if lan is not None and (name := self._plain(row.get("name"))):
            self.entries.lan_names.setdefault(lan, name)
        for key in ("ipaddr4", "ipaddr6"):
            if row.get(key) not in (None, ""):
                self._member(place, row[key], row.get("asn"), lan)

    def _pch_subnet(self, place: str, row: Record) -> None:
        if self._in_use(row):
            name = next((row[key] for key in _COLUMNS["name"] if row.get(key)), None)
            self._lan(place, row.get("subnet"), name, None)

    def _pch_member(self, place: str, row: Record) -> None:
        if _asn(row.get("asn")) is None:
            self.report.skip("address without a member")
        else:
            self._member(place, row.get("ip"), row.get("asn"), None)

    def _caida_ix(self, place: str, row: Record) -> None:
        prefixes = row.get("prefixes")
        for key in ("ipv4", "ipv6"):
            for prefix in _list(prefixes.get(key)) if isinstance(prefixes, dict) else []:
                self._lan(place, prefix, row.get("name"), None)

    def _caida_member(self, place: str, row: Record) -> None:
        for key in ("ipv4", "ipv6"):
            for addr in _list(row.get(key)):
                self._member(place, addr, row.get("asn"), None)

    def read_table(self, text: str) -> None:
        """Read lines of a prefix, a name and an AS number, or of columns that a header names."""
        columns: dict[str, int] | None = None
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            fields = _split(line)
            if columns is None:
                columns = _header(fields)
                if columns:
                    self._is_known = True
                    continue
            place = f"line {number}"
            if columns:
                row = {key: fields[at] for key, at in columns.items() if at < len(fields)}
                if not self._in_use({"status": row.get("status") or "ok"}):
                    continue
            else:
                row = _in_order(fields)
            self._lan(place, row.get("prefix", line.strip()[:100]), row.get("name"), None)
            if (asn := _asn(row.get("asn"))) is not None:
                self.entries.own.add(asn)


def _split(line: str) -> list[str]:
    """Fields between tabs, bars, semicolons or commas; else between blanks.

    The whole line is one field if the quotes or line ends in it make no sense.
    """
    line = line.strip("\r\n ")
    mark = next((mark for mark in "\t|;," if mark in line), "")
    if not mark:
        return line.split()
    try:
        return [each.strip() for each in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:  # a line end within a field, or a field of more than 128 KiB
        return [line]


def _header(fields: list[str]) -> dict[str, int]:
    """Position of each column that is known; empty if this is not a header."""
    words = [word.strip().lower() for word in fields]
    found = {}
    for column, names in _COLUMNS.items():
        if at := [words.index(name) for name in names if name in words]:
            found[column] = at[0]
    return found if "prefix" in found else {}


def _in_order(fields: list[str]) -> dict[str, str]:
    """The prefix comes first; an AS number, if there is one, last; between them a name."""
    prefix, *rest = fields
    asn = rest.pop() if rest and _asn(rest[-1]) is not None else ""
    return {"prefix": prefix, "name": " ".join(rest), "asn": asn}
