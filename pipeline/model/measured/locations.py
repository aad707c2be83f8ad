"""Where routers are on Earth, as files say, and which of it the speed of light forbids."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.model.addresses import positions_of

LIGHT_KM_PER_MS = 299.792458
# In fibre light has two thirds of its speed in a vacuum; an RTT is the way there and back.
RTT_MS_PER_KM = 2 / (LIGHT_KM_PER_MS * 2 / 3)
EARTH_RADIUS_KM = 6371.0
# A file gives cities, not buildings: places this near are the same, and RTTs forbid none.
SAME_PLACE_KM = 50.0


@dataclass(frozen=True, eq=False)
class Locations:
    """Places of addresses, sorted by address.

    Attributes
    ----------
    addr : (n, 2) uint64
        Distinct.
    latitude, longitude : (n,) float32
        Degrees.
    city, country : (n,) object
        Third-party text; code that shows it must escape it. None: not given.
    rtt_ms : (n,) float32
        Where the speed of light forbids the place: the smallest RTT of the router from ...
    far_km : (n,) float32
        ... a vantage point that is this far away by the same files; otherwise the RTT and the
        distance that come nearest to it. NaN: not checked, since no located vantage point has an
        RTT of this router.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = (
        *("latitude", "longitude", "city", "country", "place_rtt_ms", "place_far_km"),
    )

    addr: np.ndarray
    latitude: np.ndarray
    longitude: np.ndarray
    city: np.ndarray
    country: np.ndarray
    rtt_ms: np.ndarray
    far_km: np.ndarray

    @classmethod
    def unchecked(cls, addr, latitude, longitude, city, country) -> Locations:
        nan = np.full(len(addr), np.nan, np.float32)
        return cls(
            *(addr, latitude.astype(np.float32), longitude.astype(np.float32)),
            *(city, country, nan, nan),
        )

    def __len__(self) -> int:
        return len(self.addr)

    @property
    def needed_ms(self) -> np.ndarray:
        """(n,) float64: RTT that light in fibre takes at least; NaN: not checked."""
        return least_rtt_ms(self.far_km.astype(np.float64))

    @property
    def is_checked(self) -> np.ndarray:
        return ~np.isnan(self.far_km)

    @property
    def is_impossible(self) -> np.ndarray:
        """(n,) bool: False where it was not checked, too."""
        with np.errstate(invalid="ignore"):
            return self.needed_ms > self.rtt_ms

    def take(self, rows: np.ndarray) -> Locations:
        """Some of them."""
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def rows_of(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) int64: row of each address, -1 without a place."""
        return positions_of(self.addr, addrs)

    def columns(self) -> dict[str, pa.Array]:
        """All but the addresses, as files have them."""
        return {
            "latitude": pa.array(self.latitude, pa.float32()),
            "longitude": pa.array(self.longitude, pa.float32()),
            "city": pa.array(self.city, pa.string()),
            "country": pa.array(self.country, pa.string()),
            "place_rtt_ms": pa.array(self.rtt_ms, pa.float32(), mask=np.isnan(self.rtt_ms)),
            "place_far_km": pa.array(self.far_km, pa.float32(), mask=np.isnan(self.far_km)),
        }

    def table(self) -> pa.Table:
        """As a snapshot keeps them."""
        high, low = self.addr.T.astype(np.uint64)
        return pa.table({"addr_high": high, "addr_low": low, **self.columns()})

    @classmethod
    def from_table(cls, table: pa.Table) -> Locations:
        """Make them from the file of a snapshot."""
        halves = [table[name].to_numpy() for name in ("addr_high", "addr_low")]
        texts = (table[name].to_numpy(zero_copy_only=False) for name in ("city", "country"))
        checks = (
            table[name].combine_chunks().fill_null(np.nan).to_numpy()
            for name in ("place_rtt_ms", "place_far_km")
        )
        return cls(
            np.stack(halves, axis=1),
            *(table[name].to_numpy() for name in ("latitude", "longitude")),
            *texts,
            *checks,
        )


def least_rtt_ms(km: ArrayLike) -> np.ndarray:
    """RTT that light in fibre takes over some distances; ``SAME_PLACE_KM`` are not counted."""
    return np.maximum(np.asarray(km, float) - SAME_PLACE_KM, 0.0) * RTT_MS_PER_KM


def distance_km(
    latitude: np.ndarray, longitude: np.ndarray, other_latitude, other_longitude
) -> np.ndarray:
    """Great-circle distances, by the haversine formula, of places in degrees."""
    a, b = np.radians(np.asarray(latitude, float)), np.radians(np.asarray(other_latitude, float))
    turn = np.radians(np.asarray(other_longitude, float) - np.asarray(longitude, float))
    half = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(turn / 2) ** 2
    return 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
