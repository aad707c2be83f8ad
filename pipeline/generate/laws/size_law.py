"""Sizes of the ASes of a synthetic Internet, and their numbers of ingresses.

Sizes are the evenly spaced quantiles of a Pareto law bounded on both sides, whose exponent is the
one that makes them sum to the requested number of routers. So the smallest, the largest and the
sum come out exactly, whatever the seed. Ingresses grow as a power of the size.

Bounds that are not given leave room for the law: the smallest is far below the average, and the
largest so large that the exponent is not below ``LEAST_EXPONENT``. Where no such bounds exist, the
ASes would be equally large but for a few, and the numbers are refused.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.synthetic import MAX_INGRESSES
from pipeline.model.words import number

SMALLEST = 20  # routers of the smallest AS by default,
SMALLEST_SHARE = 5  # or the average AS divided by this, if that is less
LEAST_AVERAGE = 2  # times the smallest; nearer to it nearly all would be as small
LARGEST_SHARE = 136  # thousandths of all routers; default of the largest AS: 6.8 million of 50,
LEAST_EXPONENT = 0.0  # or more: below it most ASes are nearly as large as the largest
INGRESS_POWER = 0.6  # of the size: 2,000 ingresses for 6.8 million routers, 100 for 43,000

# The exponent is found in steps of 1e-9: coarse enough that another machine's pow, off by a bit or
# two, finds the same one, and sizes that do not straddle a whole number.
_EXPONENT_STEPS = 10**9
_EXPONENT_RANGE = 12  # beyond it nearly all sizes equal the smallest, or the largest; no overflow
_WHOLE = 1e-6  # a quantile this close below a whole number is that number


def as_sizes(
    n_ases: int, n_routers: int, *, smallest: int | None = None, largest: int | None = None
) -> np.ndarray:
    """Routers of each AS, largest first.

    Parameters
    ----------
    n_ases : int
        2 or more.
    n_routers : int
        Their sum.
    smallest : int or None
        Routers of the smallest AS, 1 or more; None: SMALLEST, or a part of the average.
    largest : int or None
        Routers of the largest AS; None: LARGEST_SHARE of all, or more.

    Returns
    -------
    (n_ases,) int64
        Descending; sums to ``n_routers``, first is ``largest``, last is ``smallest``.

    Raises
    ------
    UsageError
        If no sizes between these two have this sum, or without ``largest`` none that differ.

    Examples
    --------
    >>> as_sizes(5, 1000, smallest=20, largest=500).tolist()
    [500, 280, 140, 60, 20]
    """
    smallest, largest = bounds(n_ases, n_routers, smallest=smallest, largest=largest)
    sizes = np.floor(_solve(n_ases, n_routers, smallest, largest) + _WHOLE).astype(np.int64)
    sizes[0], sizes[-1] = largest, smallest
    _spread(sizes, n_routers - int(sizes.sum()))
    return sizes


def bounds(
    n_ases: int, n_routers: int, *, smallest: int | None, largest: int | None
) -> tuple[int, int]:
    """Routers of the smallest and of the largest AS; parameters and errors as of ``as_sizes``."""
    if n_ases < 2:
        raise UsageError(f"{number(n_ases, 'AS')}: an Internet has 2 or more")
    if smallest is None:
        smallest = min(SMALLEST, max(1, n_routers // (SMALLEST_SHARE * n_ases)))
    if smallest < 1:
        raise UsageError(f"{smallest} routers in the smallest AS: give 1 or more")
    least = LEAST_AVERAGE * n_ases * smallest if largest is None else n_ases * smallest
    if n_routers < least:
        raise UsageError(_too_few(n_ases, n_routers, smallest, largest))
    most_largest = n_routers - (n_ases - 1) * smallest
    if largest is None:
        return smallest, _largest(n_ases, n_routers, smallest, most_largest)
    least_largest = -(-(n_routers - smallest) // (n_ases - 1))  # all others as large as the largest
    if not least_largest <= largest <= most_largest:
        raise UsageError(
            f"{number(largest, 'router')} in the largest of {number(n_ases, 'AS')}, {smallest} in "
            f"the smallest, cannot add up to {n_routers}: "
            f"give {least_largest} to {most_largest} in the largest (--max-routers)"
        )
    return smallest, largest


def _too_few(n_ases: int, n_routers: int, smallest: int, largest: int | None) -> str:
    """What to give instead of so few routers: each the nearest number that is not refused."""
    if largest is None:
        wanted = "that differ in size"
        remedies = [number(LEAST_AVERAGE * n_ases * smallest, "router")]
        if (fewer := n_routers // (LEAST_AVERAGE * smallest)) >= 2:
            remedies.append(f"{number(fewer, 'AS')} (--ases)")
        if less := n_routers // (LEAST_AVERAGE * n_ases):
            remedies.append(f"{less} for the smallest (--min-routers)")
    else:
        wanted = f"and {largest} in the largest"
        remedies = [number((n_ases - 1) * smallest + max(largest, smallest), "router")]
    return (
        f"{number(n_routers, 'router')} {'is' if n_routers == 1 else 'are'} too few for "
        f"{number(n_ases, 'AS')} of {smallest} or more {wanted}: give {', or '.join(remedies)}"
    )


def _largest(n_ases: int, n_routers: int, smallest: int, most: int) -> int:
    """The least share of all routers, in thousandths, whose law is not flatter than allowed.

    Thousandths: another machine's pow, off by a bit or two, finds the same one.
    """
    ranks = np.arange(n_ases) / (n_ases - 1)

    def routers(share: int) -> int:
        return min(round(share * n_routers / 1000), most)

    def is_steep(share: int) -> bool:
        sizes = _quantiles(ranks, LEAST_EXPONENT, smallest, routers(share))
        return float(sizes.sum()) >= n_routers

    shares = range(LARGEST_SHARE, 1001)
    return routers(shares[bisect_left(shares, True, hi=len(shares) - 1, key=is_steep)])


def n_ingresses(sizes: np.ndarray, *, smallest: int, most: int = MAX_INGRESSES) -> np.ndarray:
    """Ingresses of ASes of these sizes: 1 for the smallest, more for larger ones.

    Parameters
    ----------
    sizes : (n_ases,) int64
        Routers of each AS, in any order.
    smallest : int
        Routers of an AS with one ingress; INGRESS_POWER says how they grow from there.
    most : int
        Upper limit for each AS; none has more ingresses than routers.

    Returns
    -------
    (n_ases,) int64

    Examples
    --------
    >>> n_ingresses(np.array([20, 200, 20_000, 6_800_000]), smallest=20).tolist()
    [1, 4, 63, 2000]
    """
    grown = np.rint((sizes / smallest) ** INGRESS_POWER).astype(np.int64)
    return np.clip(grown, 1, np.minimum(sizes, most))


def _solve(n_ases: int, n_routers: int, smallest: int, largest: int) -> np.ndarray:
    """Quantiles, descending, of the law whose sum comes nearest from above."""
    ranks = np.arange(n_ases) / (n_ases - 1)
    low, high = -_EXPONENT_RANGE * _EXPONENT_STEPS, _EXPONENT_RANGE * _EXPONENT_STEPS
    while high - low > 1:  # the sum falls as the exponent rises
        middle = (low + high) // 2
        if _quantiles(ranks, middle / _EXPONENT_STEPS, smallest, largest).sum() >= n_routers:
            low = middle
        else:
            high = middle
    return _quantiles(ranks, low / _EXPONENT_STEPS, smallest, largest)


def _quantiles(ranks: np.ndarray, exponent: float, smallest: int, largest: int) -> np.ndarray:
    """Sizes that a share ``ranks`` of all ASes exceeds."""
    log_ratio = np.log(largest / smallest)
    if exponent == 0:
        return largest * np.exp(-ranks * log_ratio)
    with np.errstate(divide="ignore"):  # at the last rank, where a steep law rounds to size 0
        sizes = largest * np.exp(-np.log1p(ranks * np.expm1(exponent * log_ratio)) / exponent)
    return np.maximum(sizes, smallest)


def _spread(sizes: np.ndarray, missing: int) -> None:
    """Distribute the rounding remainder evenly over the ASes between the ends, in place."""
    while missing:
        room = sizes[0] - sizes[1:-1] if missing > 0 else sizes[1:-1] - sizes[-1]
        some = np.flatnonzero(room)[: abs(missing)]
        step = np.minimum(room[some], max(1, abs(missing) // max(1, len(some))))
        sizes[1 + some] += np.sign(missing) * step
        missing -= int(np.sign(missing) * step.sum())
    sizes[::-1].sort()
