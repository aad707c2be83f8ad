"""Plant changes into simulated networks and print what comparing nights finds.

usage: python -m tests.oracles.nights SEED...           one night with many plants after another
       python -m tests.oracles.nights aliases SEED...   the nights with widths, routers being known
       python -m tests.oracles.nights silent SEED...    nights on which a whole AS does not answer
       python -m tests.oracles.nights delays SEED...    slow drifts, steps and bad nights of RTTs
       python -m tests.oracles.nights changes SEED...   plants of 27 kinds, taken back again
       python -m tests.oracles.nights quiet SEED...     nights of these on which nothing happened

The last two write benchmarks/results/nights_changes.json and nights_quiet.json.
"""

from __future__ import annotations

import sys

from tests.oracles.nights.delays import table
from tests.oracles.nights.judge import NIGHTS, OF_WIDTHS, PLANTS, SILENT, Score, judge_network
from tests.oracles.nights.judged import judge_changes, judge_quiet


def main(arguments: list[str]) -> int:
    """Judge the nights of the network of each seed; returns the exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "delays":
        print("\n".join(table([int(seed) for seed in arguments[1:]])))
        return 0
    if arguments[0] in ("changes", "quiet"):
        judge = judge_changes if arguments[0] == "changes" else judge_quiet
        print("\n".join(judge([int(seed) for seed in arguments[1:]])))
        return 0
    nights = {"aliases": OF_WIDTHS, "silent": SILENT}.get(arguments[0])
    seeds = arguments if nights is None else arguments[1:]
    total = Score()
    for seed in map(int, seeds):
        total.add(judge_network(seed, nights or NIGHTS, arguments[0] == "aliases"))
    for name in PLANTS:
        print(f"{name}: {total.found[name]} of {total.planted[name]}")
    print(f"all: {total.found.total()} of {total.planted.total()}")
    print(f"not observable, not counted: {dict(total.hidden)}")
    print(f"quiet nights: {total.n_quiet}, false events: {dict(total.n_false)}")
    print(f"other events on nights with changes: {dict(total.unasked)}")
    for name, kinds in total.confused:
        print(f"not found: {name}; about its AS: {kinds or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
