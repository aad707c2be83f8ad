"""Which step comes next for the widths of a graph in parts: a search or a sweep. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartThresholds:
    """Numbers that ``is_sweep_next`` compares with; answers never depend on them.

    Attributes
    ----------
    n_first : int
        Searches one by one before sweeps.
    each_single : int
        Among sweeps, one step in this many is a search: only searches lower upper bounds.
    few_components : int
        Open ones that a sweep pays for; with more, a search of all of them closes as many sources.
    """

    n_first: int = 16
    each_single: int = 4
    few_components: int = 4


RANKS = PartThresholds()


def is_sweep_next(
    n_open: int, n_searched: int, n_pending: int, n_steps: int, thresholds: PartThresholds
) -> bool:
    """Whether a sweep from many pending nodes is next; otherwise a search of each component.

    Parameters
    ----------
    n_open : int
        Components with pending nodes.
    n_searched : int
        Sources of the open component that has had the fewest.
    n_pending : int
        Pending nodes of the open component that has the most.
    n_steps : int
        Steps so far, this one included.
    """
    return (
        n_open <= thresholds.few_components
        and n_searched >= thresholds.n_first
        and n_pending > 1
        and n_steps % thresholds.each_single != 0
    )
