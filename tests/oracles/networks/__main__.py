"""Make networks, each in a folder of its own: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline.generate.networks.plan import KINDS, make_plan
from pipeline.generate.networks.writing import make_network
from tests.oracles.networks.seeds import parse_seeds


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.networks", description=f"Kinds: {', '.join(KINDS)}, or all."
    )
    parser.add_argument("kinds", nargs="+", metavar="KIND", help="or field=value")
    parser.add_argument("--seeds", type=parse_seeds, default=[1], metavar="FIRST-LAST")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    given = parser.parse_intermixed_args()
    kinds = [word for word in given.kinds if "=" not in word]
    changed = [word for word in given.kinds if "=" in word]
    for kind in KINDS if kinds == ["all"] else kinds:
        for seed in given.seeds:
            try:
                plan = make_plan(kind, seed, changed)
            except ValueError as error:
                parser.error(str(error))
            sys.stdout.write(make_network(plan, given.into / f"{kind}-{seed}") + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
