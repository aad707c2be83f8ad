"""Traceroutes as columns: what every reader of traces yields.

There is no Python object for a trace, a hop or a reply. A reply is a row; an unanswered probe has
no row, so an unanswered hop is a gap in ``ttl``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Kinds of replies. Formats that do not say (RIPE Atlas, for most) give KIND_UNKNOWN.
KIND_UNKNOWN = 0
KIND_TIME_EXCEEDED = 1  # only a forwarding router sends it
KIND_UNREACHABLE = 2  # any ICMP destination unreachable, port unreachable too
KIND_ECHO_REPLY = 3
KIND_OTHER = 4  # TCP or any other answer
# Bit beside the kind: the reply has an MPLS label stack (RFC 4950), so the probe came with one.
LABELLED = 0x80

# A measurement of several paths (``pipeline.ingest.flow_paths``) is several rows; bits of a row:
PART_FURTHER = 1  # a further path of the measurement in the rows before: no trace of its own
PART_CUT = 2  # its last reply was not the last on the way: the rest is in another row
# Another bit of a row: by a method that changes the flow from probe to probe. Where load is
# balanced by flow, hops one after the other may be of different paths (Augustin et al., IMC 2006).
CLASSIC_TRACE = 4

# Methods of probing and reasons to stop by scamper's numbers, as its tools print them.
METHODS = ("0", "icmp-echo", "udp", "tcp", "icmp-echo-paris", "udp-paris", "tcp-ack")
STOPS = (
    *("NONE", "COMPLETED", "UNREACH", "ICMP", "LOOP"),
    *("GAPLIMIT", "ERROR", "HOPLIMIT", "GSS", "HALTED"),
)


@dataclass(frozen=True, eq=False)
class Probing:
    """How traces were taken and why they ended: what scamper writes beside a ``TraceBatch``.

    Readers leave it out, and inference does not need it; whoever made the traces may know it.
    None and 0: not known.

    Attributes
    ----------
    method : (n_traces,) uint8 or None
        Position in ``METHODS``.
    stop : (n_traces,) uint8 or None
        Position in ``STOPS``.
    last_ttl : (n_traces,) uint8 or None
        Last TTL that was probed, answered or not.
    attempt : (n_replies,) uint8 or None
        Which probe of its TTL was answered, from 0.
    icmp : (n_replies,) int32 or None
        256 times the type, and the code, of the reply; -1: it is no ICMP message, or not known.
    label : (n_replies,) uint32 or None
        The upper entry of the MPLS label stack (RFC 3032: label 20 bits, class 3, bottom 1, TTL 8)
        of replies with ``LABELLED``.
    attempts, gap_limit, wait_s : int
        Probes of a TTL at most; unanswered TTLs after which a trace ends; seconds that an answer
        is waited for. The same for all traces.
    """

    method: np.ndarray | None = None
    stop: np.ndarray | None = None
    last_ttl: np.ndarray | None = None
    attempt: np.ndarray | None = None
    icmp: np.ndarray | None = None
    label: np.ndarray | None = None
    attempts: int = 0
    gap_limit: int = 0
    wait_s: int = 0


@dataclass(frozen=True, eq=False)
class TraceBatch:
    """Some traces of one file, in file order.

    Attributes
    ----------
    src_addr, dst_addr : (n_traces, 2) uint64
        See ``pipeline.model.addresses``; zeros where the format does not say.
    start_s : (n_traces,) float64
        Start, seconds since 1970 UTC; 0 where unknown.
    reply_ptr : (n_traces + 1,) int64
        Replies of trace i are rows reply_ptr[i]:reply_ptr[i + 1], by ascending ttl, within a
        ttl in the order of the probes.
    ttl : (n_replies,) uint8
        TTL of the probe that was answered, 1 to 255.
    addr : (n_replies, 2) uint64
        Who answered.
    rtt_ms : (n_replies,) float32
        Milliseconds; NaN where the format gives none.
    kind : (n_replies,) uint8
        KIND_*, with the bit ``LABELLED`` where the format gives an MPLS label stack.
    part : (n_traces,) uint8 or None
        PART_*, and ``CLASSIC_TRACE`` as far as the format says; None: none of them.
    reply_ttl : (n_replies,) uint8 or None
        TTL that was left of each reply when it arrived; 0 where unknown. None: nowhere known.
    probing : Probing or None
        What else is known of how they were taken.
    """

    src_addr: np.ndarray
    dst_addr: np.ndarray
    start_s: np.ndarray
    reply_ptr: np.ndarray
    ttl: np.ndarray
    addr: np.ndarray
    rtt_ms: np.ndarray
    kind: np.ndarray
    part: np.ndarray | None = None
    reply_ttl: np.ndarray | None = None
    probing: Probing | None = None

    @property
    def n_traces(self) -> int:
        """Rows."""
        return len(self.start_s)

    @property
    def n_measurements(self) -> int:
        """Traces, each measurement of several paths counted once."""
        if self.part is None:
            return self.n_traces
        return int(np.count_nonzero(self.part & PART_FURTHER == 0))

    @property
    def n_classic(self) -> int:
        """Traces by a classic method, each measurement of several paths counted once."""
        if self.part is None:
            return 0
        return int(np.count_nonzero(self.part & (CLASSIC_TRACE | PART_FURTHER) == CLASSIC_TRACE))

    @property
    def n_replies(self) -> int:
        return len(self.ttl)
