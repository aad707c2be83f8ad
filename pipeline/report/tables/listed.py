"""The ASes of a report, for links between their pages: also those that a part of it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, eq=False)
class Listed:
    """ASes that have a page.

    Attributes
    ----------
    asns : (n_ases,) int64
        Ascending.
    names : dict of int to str
        By number; empty where it is not known.
    organisations : dict of int to str
        By number, of those that are known.
    of_organisations : dict of str to list of int
        Their ASes, ascending.
    """

    asns: np.ndarray
    names: dict[int, str]
    organisations: dict[int, str] = field(default_factory=dict)
    of_organisations: dict[str, list[int]] = field(default_factory=dict)

    def beside(self, asn: int) -> tuple[int | None, int | None]:
        """Numbers of the ASes whose pages come before and after that of one, if there are any."""
        at = int(np.searchsorted(self.asns, asn))
        before = int(self.asns[at - 1]) if at else None
        return before, int(self.asns[at + 1]) if at + 1 < len(self.asns) else None


def list_ases(ases: pa.Table) -> Listed:
    """Those of ``ases.parquet``."""
    names = pc.fill_null(ases["name"], "").to_pylist()
    asns = ases["asn"].to_pylist()
    held = zip(asns, ases["organisation"].to_pylist(), strict=True)
    organisations = {asn: one for asn, one in held if one}
    of_organisations: dict[str, list[int]] = {}
    for asn, one in organisations.items():
        of_organisations.setdefault(one, []).append(asn)
    return Listed(
        ases["asn"].to_numpy(),
        dict(zip(asns, names, strict=True)),
        organisations,
        of_organisations,
    )
