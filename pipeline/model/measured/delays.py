"""RTT that an AS adds behind each of its ingresses.

A difference of two RTTs of one trace: a router behind the ingress minus the ingress. It holds the
way there and back, and replies of the two may come back on different paths, or be sent late: a
difference may be negative, and counts as it is. Replies from inside an MPLS tunnel may travel to
its end first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, Offsets, Ragged


@dataclass(frozen=True, eq=False)
class Delays:
    """Differences of RTT behind ingresses, one row per ingress.

    Attributes
    ----------
    ms : (n,) float32
        Median over traces of the RTT of the last router of the AS, on the same visit, minus that
        of the ingress; NaN where no trace shows a second router with an RTT.
    p25_ms, p75_ms : (n,) float32
        Quartiles, interpolated.
    n_traces, n_vantages, n_negative : (n,) int64
        Visits behind these figures, the vantage points that they are from, and how many of the
        differences are negative.
    ttl_ptr : (n + 1,) int64
    by_ttl_ms : float32; by_ttl_n_traces : int64
        Median difference, and traces, of the routers at 1, 2, ... TTLs behind the ingress; NaN and
        0 where none answered.
    """

    ms: Annotated[np.ndarray, Flat(np.float32)]
    p25_ms: Annotated[np.ndarray, Flat(np.float32)]
    p75_ms: Annotated[np.ndarray, Flat(np.float32)]
    n_traces: Annotated[np.ndarray, Flat(np.int64)]
    n_vantages: Annotated[np.ndarray, Flat(np.int64)]
    n_negative: Annotated[np.ndarray, Flat(np.int64)]
    ttl_ptr: Annotated[np.ndarray, Offsets()]
    by_ttl_ms: Annotated[np.ndarray, Ragged("ttl_ptr", np.float32)]
    by_ttl_n_traces: Annotated[np.ndarray, Ragged("ttl_ptr", np.int64)]

    def __len__(self) -> int:
        return len(self.ms)

    @classmethod
    def unknown(cls, n: int) -> Delays:
        """Of ``n`` ingresses of which nothing is known."""
        nan, none = np.full(n, np.nan, np.float32), np.zeros(n, np.int64)
        return cls(
            *(nan, nan, nan, none, none, none, np.zeros(n + 1, np.int64)),
            np.empty(0, np.float32),
            np.empty(0, np.int64),
        )
