"""Plant changes into simulated networks and print what comparing nights finds.

usage: python -m tests.oracles.nights changes SEED...   plants of 27 kinds, taken back again
       python -m tests.oracles.nights others SEED...    the same of kinds that came later
       python -m tests.oracles.nights delays SEED...    slow drifts, steps and bad nights of RTTs
       python -m tests.oracles.nights quiet SEED...     nights on which nothing happened

Each writes benchmarks/results/nights_<its name>.json.
"""

from __future__ import annotations

import sys

from tests.oracles.nights.delays import table
from tests.oracles.nights.judged import judge_changes, judge_quiet
from tests.oracles.nights.planted import OTHERS, PLANTS

_JUDGES = {
    "changes": lambda seeds: judge_changes(seeds, PLANTS, "nights_changes"),
    "others": lambda seeds: judge_changes(seeds, OTHERS, "nights_others"),
    "delays": table,
    "quiet": judge_quiet,
}


def main(arguments: list[str]) -> int:
    """Judge the nights of the network of each seed; returns the exit status."""
    if not arguments or arguments[0] not in _JUDGES:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(_JUDGES[arguments[0]]([int(seed) for seed in arguments[1:]])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
