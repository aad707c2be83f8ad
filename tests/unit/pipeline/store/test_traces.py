"""Kept traces in files: as they were, and no more of them than a share of the store."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.model.measured.kept_traces import KeptTraces, TraceRows
from pipeline.store import traces
from pipeline.store.traces import LEAST_BYTES, MOST_SHARE, write_traces
from pipeline.store.versions.names import INTERFACES, TRACES

N, N_HOPS = 4_000, 12


def some_rows() -> TraceRows:
    rng = np.random.default_rng(1)
    n = N * N_HOPS
    return TraceRows(
        vantage=np.sort(rng.integers(0, 40, N)).astype(np.int32),
        target_high=np.zeros(N, np.uint64),
        target_low=rng.integers(0, 1 << 40, N).astype(np.uint64),
        start_s=rng.integers(1, 1 << 31, N).astype(np.uint32),
        input=np.zeros(N, np.int32),
        reached=rng.random(N) < 0.5,
        further=np.zeros(N, bool),
        classic=np.zeros(N, bool),
        hop_ptr=np.arange(0, n + 1, N_HOPS),
        ttl=np.tile(np.arange(1, N_HOPS + 1), N).astype(np.uint8),
        interface=rng.integers(0, 500, n).astype(np.int32),
        rtt_ms=np.append(np.float32(np.nan), rng.random(n - 1) * 300).astype(np.float32),
        kind=np.ones(n, np.uint8),
    )


def kept(rows: TraceRows, rank: np.ndarray | None) -> KeptTraces:
    addr = np.stack([np.zeros(500, np.uint64), np.arange(1, 501, dtype=np.uint64)], axis=1)
    return KeptTraces(10 * N, addr, np.arange(500, dtype=np.int32), [lambda: rows], rank)


def sizes(folder):
    return sum((folder / name).stat().st_size for name in (TRACES, INTERFACES))


def test_traces_take_at_most_their_share_and_the_last_ranks_go_first(tmp_path):
    rows = some_rows()
    rank = np.repeat(np.array([0, 1, 2], np.uint8), [N // 4, N // 4, N // 2])
    (tmp_path / "ases.parquet").write_bytes(bytes(400_000))
    n_rows, n_kept = write_traces(tmp_path, kept(rows, rank))
    assert sizes(tmp_path) <= MOST_SHARE * 400_000
    assert 0.8 * MOST_SHARE * 400_000 < sizes(tmp_path)
    assert 0 < n_kept == n_rows[TRACES] < N
    starts = pq.read_table(tmp_path / TRACES)["start_s"].to_pylist()
    first = set(rows.start_s[rank == 0].tolist())
    assert first <= set(starts)
    assert not set(starts) & set(rows.start_s[rank == 2].tolist())


def test_a_small_store_keeps_some_and_what_was_asked_for_is_never_left_out(tmp_path):
    rows = some_rows()
    _, n_kept = write_traces(tmp_path, kept(rows, np.zeros(N, np.uint8)))
    assert 0 < n_kept < N
    assert sizes(tmp_path) <= LEAST_BYTES
    _, n_kept = write_traces(tmp_path, kept(rows, None))
    assert pq.read_metadata(tmp_path / TRACES).num_rows == N
    assert n_kept == 10 * N  # all that were read


def test_rtts_are_rounded_to_one_part_in_4000_and_unknown_ones_stay_so():
    rtt_ms = np.array([0.0, 0.123456, 10.0, 250.3, np.nan], np.float32)
    rounded = traces._rounded(rtt_ms)
    np.testing.assert_allclose(rounded, rtt_ms, rtol=1 / 4000)
    assert rounded[0] == 0
    assert rounded[2] == 10
    table = traces._table(some_rows())
    assert table["rtt_ms"].type == pa.large_list(pa.float32())
