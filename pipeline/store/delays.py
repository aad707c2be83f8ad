"""Delays behind ingresses, as columns of the ingresses file and of reports."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.model.measured.delays import Delays

_TYPES = {
    **dict.fromkeys(("delay_ms", "delay_p25_ms", "delay_p75_ms"), pa.float32()),
    **dict.fromkeys(("delay_n_traces", "delay_n_vantages", "delay_n_negative"), pa.int64()),
    "delay_by_ttl_ms": pa.large_list(pa.float32()),
    "delay_by_ttl_n_traces": pa.large_list(pa.int64()),
}


def delay_columns(delays: Delays | None, n: int) -> dict[str, pa.Array]:
    """Columns of ``n`` ingresses; null where nothing is known of any.

    A median without a trace is null, in lists too.
    """
    if delays is None:
        return {name: pa.nulls(n, kind) for name, kind in _TYPES.items()}
    ptr = pa.array(delays.ttl_ptr.astype(np.int64))
    columns = {
        "delay_ms": _ms(delays.ms),
        "delay_p25_ms": _ms(delays.p25_ms),
        "delay_p75_ms": _ms(delays.p75_ms),
        "delay_n_traces": pa.array(delays.n_traces, pa.int64()),
        "delay_n_vantages": pa.array(delays.n_vantages, pa.int64()),
        "delay_n_negative": pa.array(delays.n_negative, pa.int64()),
        "delay_by_ttl_ms": pa.LargeListArray.from_arrays(ptr, _ms(delays.by_ttl_ms)),
        "delay_by_ttl_n_traces": pa.LargeListArray.from_arrays(
            ptr, pa.array(delays.by_ttl_n_traces, pa.int64())
        ),
    }
    assert columns.keys() == _TYPES.keys()
    return columns


def _ms(values: np.ndarray) -> pa.Array:
    return pa.array(values, pa.float32(), mask=np.isnan(values))


def delays_of_table(table: pa.Table) -> Delays | None:
    """What ``delay_columns`` made; None where nothing is known of any ingress.

    Raises
    ------
    ValueError
        If some rows only have figures, or lists differ in length.
    """
    if not set(_TYPES) <= set(table.column_names):
        return None
    columns = {name: table.column(name).combine_chunks() for name in _TYPES}
    counts, lists = columns["delay_n_traces"], columns["delay_by_ttl_ms"]
    if counts.null_count == len(counts):
        return None
    other = columns["delay_by_ttl_n_traces"]
    whole = ("delay_n_traces", "delay_n_vantages", "delay_n_negative")
    some_null = [name for name in whole if columns[name].null_count]
    if some_null or lists.null_count or other.null_count or other.values.null_count:
        raise ValueError("its columns of delays have figures of some ingresses only")
    ptr = lists.offsets.to_numpy().astype(np.int64)
    if not np.array_equal(np.diff(ptr), np.diff(other.offsets.to_numpy())):
        raise ValueError("its columns delay_by_ttl_ms and delay_by_ttl_n_traces differ in length")
    first, at = ptr[0], other.offsets[0].as_py()
    n = ptr[-1] - first
    low, middle, high = (
        columns[f"delay_{name}ms"].fill_null(np.nan).to_numpy() for name in ("p25_", "", "p75_")
    )
    n_traces, n_vantages, n_negative = (columns[name].to_numpy() for name in whole)
    return Delays(
        ms=middle,
        p25_ms=low,
        p75_ms=high,
        n_traces=n_traces,
        n_vantages=n_vantages,
        n_negative=n_negative,
        ttl_ptr=ptr - first,
        by_ttl_ms=lists.values.slice(first, n).fill_null(np.nan).to_numpy(),
        by_ttl_n_traces=other.values.slice(at, n).to_numpy(),
    )
