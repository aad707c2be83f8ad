"""Traceroutes of a synthetic internet, as scamper would write them: warts records, gzipped.

The internet is that of ``internet``. What a trace shows, and where it departs from a
real one:

- A trace takes a shortest path from the router of its vantage (a tree for each vantage, ties
  drawn): no AS policy. A router answers with the address that the packet came in by; a few always
  answer with the same address, some never, some half of the time.
- It goes to a host behind a random router (three tenths of the hosts answer), or, one in sixteen,
  to a router's own interface.
- Each reply carries the values that scamper writes today; RTTs are twice the delay of the links
  passed, plus noise.

Everything follows from the seed by whole-number arithmetic: trace i is the same whatever file it
is in, on every machine.
"""

from __future__ import annotations

import gzip
import multiprocessing
import os
import struct
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit

from benchmarks.synthetic.internet import (
    LIMITED,
    ONE_ADDRESS,
    SILENT,
    Internet,
    make_internet,
    write_pfx2as,
)

HOSTS = 2  # behind each router
START_S = 1_700_000_000
TRACES_PER_S = 2_000  # of all vantages together

_HOST_ANSWERS = 77  # of 256
_MAX_HOPS = 60  # of a trace; shortest paths here are far shorter
_BUFFER_BYTES = 1 << 22

_LIST = struct.pack(">HHIII", 0x1205, 1, 19, 1, 0) + b"synthetic\0" + b"\0"
_V4 = b"\x04\x01"  # length and type, before the bytes of an address
# A trace record up to its count of replies; what differs is put in afterwards, at these places.
_TRACE = np.frombuffer(
    struct.pack(">HHI", 0x1205, 6, 0)
    + bytes.fromhex("f3feff3f")  # which values follow
    + struct.pack(">H", 52)
    + struct.pack(">IIII", 1, 1, 0, 0)  # list, cycle, start
    + bytes([5, 0, 2, 0, 4])  # stop reason and data, attempts, hop limit, ICMP Paris
    + struct.pack(">HHH", 44, 1234, 33435)  # probe size, ports
    + bytes([1, 0, 5, 0])  # first TTL, tos, wait, loops
    + struct.pack(">H", 0)  # hops
    + bytes([5, 1, 0])  # gap limit, what to do after a gap, after a loop
    + struct.pack(">H", 0)  # probes sent
    + bytes([0, 0])  # wait between probes, confidence
    + 2 * (_V4 + bytes(4))  # source, destination
    + struct.pack(">H", 0),  # replies
    np.uint8,
)
_LENGTH, _START, _STOP, _HOPS, _PROBES, _SRC, _DST, _COUNT = 4, 22, 30, 45, 50, 56, 62, 66
# A reply with an address in full; one that is known by number is shorter by a byte.
_REPLY = np.frombuffer(
    bytes.fromhex("fe8f1a")
    + struct.pack(">H", 32)
    + bytes([0, 0, 0x10, 0])  # probe TTL, reply TTL, flags, probe
    + struct.pack(">IHHHH", 0, 0x0B00, 44, 56, 0)  # RTT, ICMP, sizes, IP id
    + bytes([0, 0])  # tos, tos quoted
    + _V4
    + bytes(4)
    + struct.pack(">II", 0, 0),  # sent
    np.uint8,
)
_R_SIZE, _R_TTL, _R_RTT, _R_ICMP, _R_ID, _R_ADDR = 3, 5, 9, 13, 19, 23
# No record is longer.
_RECORD_BYTES = len(_TRACE) + len(_REPLY) * (_MAX_HOPS + 1) + 2


@dataclass(frozen=True)
class Written:
    """One file, or all of them."""

    paths: tuple[Path, ...]
    n_traces: int
    n_replies: int
    n_bytes: int  # before compression
    n_stored: int


@njit(cache=True, nogil=True)
def _mix(x):
    """splitmix64's finaliser; x uint64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _draw(key, number):
    """64 random bits for (key, number)."""
    x = np.uint64(key) + (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return _mix(_mix(x))


@njit(cache=True, nogil=True)
def _grow_tree(indptr, head, delay_us, root, key, tail_of, arc_of, depth, delay):
    """Shortest paths from ``root``, by hops; of several the first in a random order."""
    depth[:] = -1
    queue = np.empty(len(depth), np.int32)
    queue[0] = root
    depth[root], delay[root], arc_of[root], tail_of[root] = 0, 0, -1, -1
    at, n_queued = 0, 1
    while at < n_queued:
        u = queue[at]
        at += 1
        first, degree = indptr[u], indptr[u + 1] - indptr[u]
        turn = np.int64(_draw(key, u) >> np.uint64(33)) % degree
        for i in range(degree):
            arc = first + (turn + i) % degree
            v = head[arc]
            if depth[v] < 0:
                depth[v] = depth[u] + 1
                delay[v] = delay[u] + delay_us[arc]
                arc_of[v], tail_of[v] = arc, u
                queue[n_queued] = v
                n_queued += 1


@njit(cache=True, nogil=True)
def _put(out, at, value, n_bytes):
    for i in range(n_bytes):
        out[at + i] = np.uint8((value >> (8 * (n_bytes - 1 - i))) & 0xFF)
    return at + n_bytes


@njit(cache=True, nogil=True)
def _put_reply(out, at, ttl, rtt_us, icmp, addr, is_destination, noise, sent_us):
    """Write one reply at ``at``; the destination's address is row 1 of the record's addresses."""
    out[at : at + len(_REPLY)] = _REPLY
    out[at + _R_TTL], out[at + _R_TTL + 1] = ttl, 255 - ttl
    _put(out, at + _R_RTT, rtt_us, 4)
    _put(out, at + _R_ICMP, icmp, 2)
    _put(out, at + _R_ID, noise & 0xFFFF, 2)
    if is_destination:
        _put(out, at + _R_SIZE, 31, 2)
        _put(out, at + _R_ADDR, 0, 1)
        at = _put(out, at + _R_ADDR + 1, 1, 4)
    else:
        at = _put(out, at + _R_ADDR + 2, addr, 4)
    at = _put(out, at, START_S + sent_us // 1_000_000, 4)
    return _put(out, at, sent_us % 1_000_000, 4)


@njit(cache=True, nogil=True)
def _encode(
    which, start, seed, indptr, addr, host, manner, root, tail_of, arc_of, depth, delay, out
):
    """Write records of traces which[start:], all from one vantage, while ``out`` has room.

    Returns the numbers of traces, bytes and replies written.
    """
    n_routers = len(host)
    at, n_replies, n_done = 0, 0, 0
    path = np.empty(_MAX_HOPS, np.int64)
    for number in which[start:]:
        if at + _RECORD_BYTES > len(out):
            break
        n_done += 1
        key = _draw(seed, number)
        target = np.int64(_draw(key, 0) >> np.uint64(1)) % n_routers
        choice = np.int64(_draw(key, 1) >> np.uint64(1))
        to_router = choice % 16 == 0 and target != root
        choice >>= 4
        if to_router:
            degree = indptr[target + 1] - indptr[target]
            dst = _own_end(addr[indptr[target] + choice % degree])
            answers = manner[target] >= LIMITED
        else:
            dst = np.int64(host[target]) + 1 + choice % HOSTS
            answers = np.int64(_draw(dst, 7) >> np.uint64(1)) % 256 < _HOST_ANSWERS
        n_path = np.int64(depth[target]) + 1
        router = target
        for i in range(n_path - 1, -1, -1):
            path[i] = router
            router = tail_of[router]

        begin, first_reply = at, n_replies
        out[at : at + len(_TRACE)] = _TRACE
        started_us = number * (1_000_000 // TRACES_PER_S)
        _put(out, at + _START, START_S + started_us // 1_000_000, 4)
        _put(out, at + _START + 4, started_us % 1_000_000, 4)
        if answers:
            out[at + _STOP] = 1
        _put(out, at + _HOPS, n_path + (1 if answers else 5), 2)
        _put(out, at + _PROBES, n_path + (1 if answers else 5), 2)
        _put(out, at + _SRC, np.int64(host[root]) + 1 + HOSTS, 4)
        _put(out, at + _DST, dst, 4)
        at += len(_TRACE)
        for i in range(n_path):
            router = path[i]
            manners = manner[router]
            noise = np.int64(_draw(key, 2 + i) >> np.uint64(1))
            is_end = to_router and i == n_path - 1
            silent = manners < SILENT or (manners < LIMITED and noise & 1) or noise & 0xFE == 0
            if (not answers) if is_end else silent:
                continue
            noise >>= 8
            # Queues: a product of two draws, mostly small, now and then two milliseconds.
            rtt_us = 2 * np.int64(delay[router]) + 150 * (i + 1)
            rtt_us += ((noise & 0xFFF) * ((noise >> 12) & 0xFFF)) >> 13
            if i == 0:
                own = np.int64(host[router])
            elif LIMITED <= manners < ONE_ADDRESS:
                own = _own_end(addr[indptr[router]])
            else:
                own = np.int64(addr[arc_of[router]])
            sent_us = started_us + 20_000 * (i + 1)
            icmp = 0 if is_end else 0x0B00
            at = _put_reply(out, at, i + 1, rtt_us, icmp, own, is_end or own == dst, noise, sent_us)
            n_replies += 1
        if answers and not to_router:
            noise = np.int64(_draw(key, 1 + _MAX_HOPS) >> np.uint64(1))
            rtt_us = 2 * np.int64(delay[target]) + 150 * (n_path + 1) + (noise & 0x3FF)
            sent_us = started_us + 20_000 * (n_path + 1)
            at = _put_reply(out, at, n_path + 1, rtt_us, 0, dst, True, noise >> 10, sent_us)
            n_replies += 1
        _put(out, begin + _COUNT, n_replies - first_reply, 2)
        at = _put(out, at, 0, 2)  # no attachment
        _put(out, begin + _LENGTH, at - begin - 8, 4)
    return n_done, at, n_replies


@njit(cache=True, nogil=True)
def _own_end(addr):
    """The other end of the /30: 1 for 2 and 2 for 1."""
    return np.int64(addr) + 3 - 2 * (np.int64(addr) & 3)


class Vantages:
    """Where traces come from, and the shortest paths from there.

    Parameters
    ----------
    internet : Internet
    n_vantages : int
        Routers drawn; no two alike.
    """

    def __init__(self, internet: Internet, n_vantages: int = 100) -> None:
        rng = np.random.Generator(np.random.PCG64(internet.seed + 1))
        self.roots = rng.choice(internet.n_routers, n_vantages, replace=False)
        self._internet = internet
        n = internet.n_routers
        self._tree = tuple(np.empty(n, np.int32) for _ in range(4))  # tail, arc, depth, delay
        self._buffer = np.empty(_BUFFER_BYTES, np.uint8)

    def write(self, path: Path, which: np.ndarray, n_all: int) -> Written:
        """Write some traces to one gzip file, in the order given.

        Parameters
        ----------
        path : Path
        which : (n_traces,) int64
            Numbers of the traces, from 0 to n_all - 1. Vantages follow one another: trace i is
            of vantage i * n_vantages // n_all. Few changes of vantage make it fast.
        n_all : int
            Traces of the whole measurement.
        """
        internet = self._internet
        vantage = which * len(self.roots) // n_all
        bounds = np.flatnonzero(np.diff(vantage, prepend=-1, append=-1))
        n_bytes = len(_LIST)
        n_replies = 0
        with path.open("wb") as stored, gzip.GzipFile("", "wb", 1, stored, mtime=0) as file:
            file.write(_LIST)
            for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                root = int(self.roots[vantage[start]])
                self._grow(root)
                while start < end:
                    n_done, n, n_more = _encode(
                        which[:end],
                        start,
                        internet.seed,
                        internet.indptr,
                        internet.addr,
                        internet.host,
                        internet.manner,
                        root,
                        *self._tree,
                        self._buffer,
                    )
                    file.write(self._buffer[:n].data)
                    start += n_done
                    n_bytes += n
                    n_replies += n_more
        return Written((path,), len(which), n_replies, n_bytes, path.stat().st_size)

    def _grow(self, root: int) -> None:
        internet = self._internet
        tail_of, arc_of, depth, delay = self._tree
        _grow_tree(
            internet.indptr,
            internet.head,
            internet.delay_us,
            root,
            internet.seed + root,
            tail_of,
            arc_of,
            depth,
            delay,
        )
        if depth.max() >= _MAX_HOPS:
            raise ValueError(f"a path of {depth.max() + 1} routers; {_MAX_HOPS} at most")


def write_traces(
    folder: Path,
    n_traces: int,
    n_files: int,
    *,
    n_ases: int = 300,
    routers_per_as: int = 1000,
    n_vantages: int = 100,
    seed: int = 1,
    processes: int = 2,
) -> Written:
    """Write a measurement of an internet to ``folder``: traces-NNN.warts.gz and prefixes.pfx2as.

    Files hold the traces in order, cut evenly; some processes write them side by side.
    """
    internet = make_internet(n_ases, routers_per_as, seed)
    write_pfx2as(internet, folder / "prefixes.pfx2as")
    bounds = [n_traces * i // n_files for i in range(n_files + 1)]
    tasks = [
        (folder / f"traces-{i:03d}.warts.gz", bounds[i], bounds[i + 1], n_traces)
        for i in range(n_files)
    ]
    if processes == 1 or n_files == 1:
        _start(internet, n_vantages)
        parts = [_write(task) for task in tasks]
    else:
        # Compiled here, once: numba's cache has no lock.
        Vantages(internet, 1).write(Path(os.devnull), np.zeros(1, np.int64), 1)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, context, _start, (internet, n_vantages)) as pool:
            parts = list(pool.map(_write, tasks))
    return add_up(parts)


def add_up(parts: Sequence[Written]) -> Written:
    """Several files as one measurement."""
    return Written(
        tuple(path for part in parts for path in part.paths),
        *(sum(getattr(part, name) for part in parts) for name in _SUMMED),
    )


_SUMMED = ("n_traces", "n_replies", "n_bytes", "n_stored")
_vantages: Vantages | None = None  # of a writing process


def _start(internet: Internet, n_vantages: int) -> None:
    global _vantages
    _vantages = Vantages(internet, n_vantages)


def _write(task: tuple[Path, int, int, int]) -> Written:
    path, start, end, n_all = task
    assert _vantages is not None  # every process begins with _start
    return _vantages.write(path, np.arange(start, end, dtype=np.int64), n_all)
