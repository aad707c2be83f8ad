"""Decode tracelb records, traceroutes of many flows: compiled, no Python object per probe.

Layout: parameters, with the numbers of nodes and links; parameters of each node; each link:
parameters (number of the node that it leaves, of the one that it reaches, its hops), and for each
hop its probes (their number, then parameters of each), and behind each probe parameters of each of
its replies. What a link's hops name need not be joined: links are found from flows and TTLs
(``pipeline.ingest.flow_paths``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.flow_paths import Head, write_paths
from pipeline.ingest.icmp import reply_kind
from pipeline.ingest.warts.fields import (
    ADDRESS_VALUE,
    BAD_REFERENCE,
    EXTENSION_VALUE,
    NO_DESTINATION,
    NO_FLOW,
    NO_NODE,
    has_labels,
    read_known_address,
    read_parameters,
    read_u16,
    read_u32,
)
from pipeline.model.measured.traces import KIND_OTHER, LABELLED

# A probe with flow, TTL and number of replies takes 8 bytes, a reply with an address 9.
MIN_ANSWER_BYTES = 17

# Bytes of each value by flag, from flag 1.
# fmt: off
TRACELB_VALUES = np.array([
    0,
    4, 4, 4, 4, 8, 2, 2,  # list, cycle, source and destination numbers, start, ports
    2, 1, 1, 1, 1, 1, 1,  # probe size, type, first hop, waits, attempts, confidence
    1, 2, 2, 4, 4, 1,  # tos, nodes, links, probes and their limit, gap limit
    ADDRESS_VALUE, ADDRESS_VALUE,  # both ends
], np.uint8)
NODE_VALUES = np.array([0, 4, 1, 2, 1, ADDRESS_VALUE], np.uint8)  # number, flags, links, TTL
LINK_VALUES = np.array([0, 2, 2, 1], np.uint8)  # from, to, hops
HOP_VALUES = np.array([0, 2], np.uint8)  # probes
PROBE_VALUES = np.array([0, 8, 2, 1, 1, 2], np.uint8)  # sent, flow, TTL, attempt, replies
REPLY_VALUES = np.array([
    0,
    8, 2, 1, 1, 2, 1,  # received, IP id, reply TTL, flags, ICMP type and code, TCP flags
    EXTENSION_VALUE, 1, 1, 4, ADDRESS_VALUE,  # extensions, quoted TTL and tos, number, address
], np.uint8)
# fmt: on
SOURCE_NUMBER, DESTINATION_NUMBER, START, N_NODES, N_LINKS = 3, 4, 5, 16, 17
SOURCE, DESTINATION = 21, 22
NODE_NUMBER, NODE_ADDR = 1, 5
FROM, N_HOPS = 1, 3
SENT, FLOW, TTL, N_REPLIES = 1, 2, 3, 5
RECEIVED, REPLY_FLAGS, REPLY_ICMP, REPLY_EXTENSIONS, REPLY_NUMBER, REPLY_ADDR = 1, 4, 5, 7, 10, 11
FLAG_TCP = 0x02
NO_TTL_YET = 256


@njit(cache=True, nogil=True)
def _count_at(data, place):
    return read_u16(data, place) if place >= 0 else 0


@njit(cache=True, nogil=True)
def _microseconds(data, place):
    return read_u32(data, place) * 1_000_000 + read_u32(data, place + 4)


@njit(cache=True, nogil=True)
def decode(data, pos, end, table, numbered, n_numbered, answers, columns, memories):
    """Decode the body of a tracelb record in [pos, end) into rows after those of ``columns``.

    Parameters
    ----------
    data, table, numbered, n_numbered, columns, memories
        As in ``pipeline.ingest.warts.decode.decode``.
    answers : (>= (end - pos) // MIN_ANSWER_BYTES,) ANSWER
        Scratch.

    Returns
    -------
    bool
        False: the record is broken, with the reason in memory; nothing was written.
    """
    memory, places = memories[0], np.empty(40, np.int64)
    ends = np.zeros((3, 2), np.uint64)  # source, destination, first node
    addr = np.zeros((1, 2), np.uint64)
    memory.n_addrs = 0
    pos = read_parameters(data, pos, end, TRACELB_VALUES, places, table, memory)
    if pos < 0:
        return False
    memory.reason = BAD_REFERENCE
    if (
        read_known_address(
            data, places, SOURCE_NUMBER, SOURCE, table, numbered, n_numbered, ends, 0
        )
        < 0
    ):
        return False
    found = read_known_address(
        data, places, DESTINATION_NUMBER, DESTINATION, table, numbered, n_numbered, ends, 1
    )
    if found <= 0:
        memory.reason = BAD_REFERENCE if found < 0 else NO_DESTINATION
        return False
    start_s = 0.0
    if places[START] >= 0:
        start_s = _microseconds(data, places[START]) / 1e6
    n_nodes, n_links = _count_at(data, places[N_NODES]), _count_at(data, places[N_LINKS])
    has_first = False
    for node in range(n_nodes):
        pos = read_parameters(data, pos, end, NODE_VALUES, places, table, memory)
        if pos < 0:
            return False
        if node == 0:
            found = read_known_address(
                data, places, NODE_NUMBER, NODE_ADDR, table, numbered, n_numbered, ends, 2
            )
            if found < 0:
                memory.reason = BAD_REFERENCE
                return False
            has_first = found > 0
    n, n_no_addr, n_bad_rtt = 0, 0, 0
    behind_first = splits_at = np.int64(NO_TTL_YET)
    for _link in range(n_links):
        pos = read_parameters(data, pos, end, LINK_VALUES, places, table, memory)
        if pos < 0:
            return False
        if places[FROM] < 0 or read_u16(data, places[FROM]) >= n_nodes:
            memory.reason = NO_NODE
            return False
        is_first = read_u16(data, places[FROM]) == 0
        n_hops = np.int64(data[places[N_HOPS]]) if places[N_HOPS] >= 0 else 0
        for hop in range(n_hops):
            pos = read_parameters(data, pos, end, HOP_VALUES, places, table, memory)
            if pos < 0:
                return False
            for _probe in range(_count_at(data, places[1])):
                pos = read_parameters(data, pos, end, PROBE_VALUES, places, table, memory)
                if pos < 0:
                    return False
                if places[FLOW] < 0 or places[TTL] < 0 or data[places[TTL]] == 0:
                    memory.reason = NO_FLOW
                    return False
                ttl = np.int64(data[places[TTL]])
                flow, sent = read_u16(data, places[FLOW]), places[SENT]
                if is_first and hop == 0 and ttl < behind_first:
                    behind_first = ttl
                is_answered = False
                for _reply in range(_count_at(data, places[N_REPLIES])):
                    pos = read_parameters(data, pos, end, REPLY_VALUES, places, table, memory)
                    if pos < 0:
                        return False
                    found = read_known_address(
                        data, places, REPLY_NUMBER, REPLY_ADDR, table, numbered, n_numbered,
                        addr, 0,
                    )  # fmt: skip
                    if found < 0:
                        memory.reason = BAD_REFERENCE
                        return False
                    if found == 0:
                        n_no_addr += 1
                        continue
                    high, low = addr[0, 0], addr[0, 1]
                    if is_answered:
                        same = answers[n - 1].high == high and answers[n - 1].low == low
                        if not same and ttl < splits_at:
                            splits_at = ttl
                        continue
                    is_answered = True
                    answer = answers[n]
                    n += 1
                    answer.flow, answer.ttl = flow, ttl
                    answer.high, answer.low = high, low
                    answer.rtt_ms = np.nan
                    if sent >= 0 and places[RECEIVED] >= 0:
                        took = _microseconds(data, places[RECEIVED]) - _microseconds(data, sent)
                        if 0 <= took < 1 << 32:  # as in trace records
                            answer.rtt_ms = took / 1000.0
                        else:
                            n_bad_rtt += 1
                    answer.kind = KIND_OTHER
                    flags = data[places[REPLY_FLAGS]] if places[REPLY_FLAGS] >= 0 else 0
                    if places[REPLY_ICMP] >= 0 and not flags & FLAG_TCP:
                        is_v4 = high == 0 and (low >> np.uint64(32)) == np.uint64(0xFFFF)
                        at = places[REPLY_ICMP]
                        answer.kind = reply_kind(is_v4, data[at], data[at + 1])
                    at = places[REPLY_EXTENSIONS]
                    if at >= 0 and has_labels(data, at):
                        answer.kind |= LABELLED
    count = columns.counts[0]
    count.n_no_addr += n_no_addr
    count.n_bad_rtt += n_bad_rtt
    first_ttl = behind_first - 1 if has_first and behind_first < NO_TTL_YET else 0
    head = Head(ends[0, 0], ends[0, 1], ends[1, 0], ends[1, 1], start_s)
    write_paths(answers, n, first_ttl, ends[2, 0], ends[2, 1], splits_at, head, columns)
    return True
