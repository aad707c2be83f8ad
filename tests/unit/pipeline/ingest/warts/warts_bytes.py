"""Writes warts records for tests, sharing no code with the reader, and the committed sample.

``python -m tests.unit.pipeline.ingest.warts.warts_bytes`` writes data/samples/warts.
"""

from __future__ import annotations

import ipaddress
import json
import struct
from pathlib import Path

SAMPLES = Path(__file__).parents[5] / "data" / "samples" / "warts"

# A ping of 127.0.0.1, written by scamper itself: a record of another type.
PING = bytes.fromhex(
    "1205000700000056f3fc65002900000001000000016b014284000aa26c0100000100540140000000"
    "0134e404017f00000100000000000001fe93030021074000540000000000bb00006d915c5d000000"
    "0000000000006b014284000aa313"
)


def record(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHI", 0x1205, kind, len(body)) + body


def params(values: dict[int, bytes]) -> bytes:
    """Flag bytes, length and values of a parameter block."""
    if not values:
        return b"\0"
    n_bytes = (max(values) - 1) // 7 + 1
    flags = bytearray(n_bytes)
    for flag in values:
        flags[(flag - 1) // 7] |= 1 << ((flag - 1) % 7)
    for i in range(n_bytes - 1):
        flags[i] |= 0x80
    body = b"".join(values[flag] for flag in sorted(values))
    return bytes(flags) + struct.pack(">H", len(body)) + body


class Addresses:
    """Addresses of one record: the first time in full, then by number."""

    def __init__(self) -> None:
        self.known: list[str] = []

    def __call__(self, text: str) -> bytes:
        if text in self.known:
            return b"\0" + struct.pack(">I", self.known.index(text))
        self.known.append(text)
        return address(text)


def address(text: str) -> bytes:
    packed = ipaddress.ip_address(text).packed
    return bytes([len(packed), 1 if len(packed) == 4 else 2]) + packed


def reply(
    addrs: Addresses,
    ttl: int,
    addr: str,
    rtt_us: int | None,
    icmp: tuple[int, int] | None,
    flags: int = 0x10,
    probe: int = 0,
    more: dict[int, bytes] | None = None,
) -> bytes:
    values = {2: bytes([ttl]), 3: b"\x40", 4: bytes([flags]), 5: bytes([probe]), 18: addrs(addr)}
    if rtt_us is not None:
        values[6] = struct.pack(">I", rtt_us)
    if icmp is not None:
        values[7] = bytes(icmp)
    return params({**values, **(more or {})})


def trace(
    src: str, dst: str, start: tuple[int, int], method: int, replies, attachments=b""
) -> bytes:
    """A trace record; ``replies`` are keyword arguments of ``reply`` without the addresses."""
    addrs = Addresses()
    last = max((each["ttl"] for each in replies), default=0)
    head = params(
        {
            1: struct.pack(">I", 1),
            2: struct.pack(">I", 1),
            5: struct.pack(">II", *start),
            6: b"\x01",
            11: bytes([method]),
            12: struct.pack(">H", 44),
            15: b"\x01",
            19: struct.pack(">H", last),
            26: addrs(src),
            27: addrs(dst),
        }
    )
    rows = b"".join(reply(addrs, **each) for each in replies)
    end = attachments + b"\0\0"
    return record(6, head + struct.pack(">H", len(replies)) + rows + end)


def probe(addrs: Addresses, flow: int, ttl: int, *replies: str | dict[int, bytes]) -> bytes:
    """A probe of a tracelb record, sent at second 1; replies by address (after 2 ms) or in full."""
    rows = b""
    for given in replies:
        if isinstance(given, str):
            given = {1: struct.pack(">II", 1, 2000), 4: b"\x01", 5: b"\x0b\0", 11: addrs(given)}
        rows += params(given)
    sent = {1: struct.pack(">II", 1, 0), 2: struct.pack(">H", flow), 3: bytes([ttl]), 4: b"\0"}
    return params({**sent, 5: struct.pack(">H", len(replies))}) + rows


def tracelb(src: str, dst: str, nodes: list[str], links) -> bytes:
    """A tracelb record; a link: from, to (or None), and of each hop the arguments of its probes."""
    addrs = Addresses()
    head = params(
        {
            5: struct.pack(">II", 1_700_000_009, 500_000),
            10: b"\x01",
            16: struct.pack(">H", len(nodes)),
            17: struct.pack(">H", len(links)),
            21: addrs(src),
            22: addrs(dst),
            24: b"\x01",
        }
    )
    body = b""
    for node in nodes:
        body += params({2: b"\0", 3: b"\0\1", 4: b"\1", 5: addrs(node), 6: b"name\0"})
    for near, far, hops in links:
        ends = {1: struct.pack(">H", near), 3: bytes([len(hops)])}
        body += params(ends if far is None else {**ends, 2: struct.pack(">H", far)})
        for probes in hops:
            body += params({1: struct.pack(">H", len(probes))})
            body += b"".join(probe(addrs, *each) for each in probes)
    return record(8, head + body)


LIST = record(1, struct.pack(">II", 1, 0) + b"sample\0" + b"\0")
CYCLE_START = record(2, struct.pack(">IIII", 1, 1, 0, 1_700_000_000) + params({2: b"here\0"}))
CYCLE_STOP = record(4, struct.pack(">II", 1, 1_700_000_060) + b"\0")

TCP, ICMP_PARIS, UDP_PARIS = 3, 4, 5
FIRST = trace(
    "192.0.2.1",
    "198.51.100.9",
    (1_700_000_001, 250_000),
    ICMP_PARIS,
    [
        {"ttl": 1, "addr": "203.0.113.1", "rtt_us": 512, "icmp": (11, 0)},
        # Nobody answers at 2; two routers at 3; the destination at 4.
        {"ttl": 3, "addr": "203.0.113.5", "rtt_us": 1_250, "icmp": (11, 0)},
        {"ttl": 3, "addr": "203.0.113.6", "rtt_us": 1_375, "icmp": (11, 0), "probe": 1},
        {"ttl": 4, "addr": "198.51.100.9", "rtt_us": 2_001, "icmp": (0, 0)},
    ],
)
SECOND = trace(
    "2001:db8::1",
    "2001:db8:1::2",
    (1_700_000_002, 0),
    UDP_PARIS,
    [
        {"ttl": 1, "addr": "2001:db8:0:1::1", "rtt_us": 700, "icmp": (3, 0)},
        {"ttl": 2, "addr": "2001:db8:1::2", "rtt_us": 900, "icmp": (1, 4)},
    ],
)
THIRD = trace(
    "192.0.2.1",
    "198.51.100.10",
    (1_700_000_003, 999_999),
    TCP,
    [
        # Replies out of order, a TCP answer, an ICMP extension (MPLS) and an unreachable.
        {"ttl": 2, "addr": "198.51.100.10", "rtt_us": 3_000, "icmp": None, "flags": 0x30}
        | {"more": {15: b"\x12"}},
        {"ttl": 1, "addr": "203.0.113.1", "rtt_us": 600, "icmp": (11, 0)}
        | {"more": {17: struct.pack(">HHBB", 8, 4, 1, 1) + b"\x00\x01\x41\x01"}},
        {"ttl": 3, "addr": "203.0.113.9", "rtt_us": 4_000, "icmp": (3, 13)},
    ],
)
FOURTH = trace("192.0.2.1", "198.51.100.11", (1_700_000_004, 5), UDP_PARIS, [])

SAMPLE = LIST + CYCLE_START + FIRST + PING + SECOND + THIRD + FOURTH + CYCLE_STOP


def _bad() -> dict[str, tuple[bytes, str, int, dict[str, int]]]:
    """Broken files by name: content, error, traces that are read, rejected records."""
    huge = bytearray(SECOND)
    huge[4:8] = struct.pack(">I", len(SECOND) + 3)
    return {
        "cut.warts": (LIST + FIRST + SECOND[:-5], "cut short in a record", 1, {}),
        "cut_in_header.warts": (LIST + FIRST + SECOND[:6], "cut short in a record", 1, {}),
        "no_traces_only_text.warts": (
            b"traceroute to 192.0.2.1\n",
            "not a warts file: it has no scamper record",
            0,
            {"bytes that are not a record": 1},
        ),
        "magic_lost.warts": (
            FIRST + b"\xff" + SECOND[1:] + THIRD + CYCLE_STOP,
            "",
            2,
            {"bytes that are not a record": 1},
        ),
        "damaged_end.warts": (
            FIRST + b"\xff" * 40,
            "no record from here on: damaged or cut short",
            1,
            {"bytes that are not a record": 1},
        ),
        "wrong_length.warts": (FIRST + bytes(huge) + THIRD, "", 3, {}),
        "values_too_long.warts": (
            FIRST + record(6, b"\x10\x00\x04\0\0\0\0\0\0\0\0") + THIRD,
            "",
            2,
            {"parameters do not fit the record": 1},
        ),
        "unknown_address.warts": (
            FIRST
            + record(6, params({26: b"\0\0\0\0\x07", 27: address("192.0.2.1")}) + b"\0\0\0\0")
            + THIRD,
            "",
            2,
            {"reference to an undefined address": 1},
        ),
        "address_of_three_bytes.warts": (
            FIRST + record(6, params({27: b"\x03\x01abc"}) + b"\0\0\0\0") + THIRD,
            "",
            2,
            {"address of unknown type or length": 1},
        ),
        "no_destination.warts": (
            FIRST + record(6, params({26: address("192.0.2.1")}) + b"\0\0\0\0") + THIRD,
            "",
            2,
            {"trace without a destination": 1},
        ),
        "no_ttl.warts": (
            FIRST + record(6, params({27: address("192.0.2.1")}) + b"\0\1\0\0\0") + THIRD,
            "",
            2,
            {"reply without a TTL": 1},
        ),
        "no_end_mark.warts": (
            FIRST + record(6, params({27: address("192.0.2.1")}) + b"\0\0") + THIRD,
            "",
            2,
            {"record ends before its end mark": 1},
        ),
    }


def write_samples() -> None:
    bad = SAMPLES / "bad"
    bad.mkdir(parents=True, exist_ok=True)
    (SAMPLES / "sample.warts").write_bytes(SAMPLE)
    expected = {}
    for name, (content, error, n_traces, rejected) in _bad().items():
        (bad / name).write_bytes(content)
        expected[name] = {"error": error, "n_traces": n_traces, "rejected": rejected}
    (bad / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    write_samples()
