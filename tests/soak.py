"""Tests with many cases: a few seeded ones in ``make test``, all of them in ``make soak``.

``make soak`` sets HOPSCOPE_SOAK and SEED, runs the tests marked ``soak`` (every test of hypothesis
is, and whatever asks for ``WHOLE``) and writes benchmarks/results/soak.json. A name in
HOPSCOPE_SOAK instead of 1 is that of the file, for some of the tests:
``HOPSCOPE_SOAK=kills_2_cores pytest tests/integration/test_kills.py``.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

SOAKED = os.environ.get("HOPSCOPE_SOAK", "")
WHOLE = SOAKED not in ("", "0")
SUBJECT = "soak" if SOAKED == "1" else SOAKED
SHARE = 5  # one in this many examples is run by make test
FEWEST = 15

# A few examples are the same each time; when all are run, --hypothesis-seed draws them.
settings.register_profile("few", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("whole", deadline=None, print_blob=True)
settings.load_profile("whole" if WHOLE else "few")


def examples(whole: int) -> int:
    """Number of examples by which a property is tested, of the number that ``make soak`` runs."""
    return whole if WHOLE else min(whole, max(FEWEST, whole // SHARE))


def mark(item: pytest.Item) -> None:
    """Mark a test of hypothesis as one that ``make soak`` runs, with its number of examples."""
    test = getattr(item, "function", None)
    if getattr(test, "is_hypothesis_test", False):
        n_cases = test._hypothesis_internal_use_settings.max_examples
        item.add_marker(pytest.mark.soak)
        item.user_properties.append(("n_cases", n_cases))


class Results:
    """What each test of a soak took, written down at its end."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.rows: list[dict] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            row = {"test": report.nodeid, "outcome": report.outcome, "n_cases": 1}
            row |= dict(report.user_properties) | {"wall_s": round(report.duration, 3)}
            self.rows.append(row)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        from benchmarks.lib.record import record

        record(
            SUBJECT,
            sorted(self.rows, key=lambda row: row["test"]),
            command="make soak" if SUBJECT == "soak" else f"HOPSCOPE_SOAK={SUBJECT} pytest",
            seed=self.seed,
            exit_status=int(exitstatus),
            n_cases=sum(row["n_cases"] for row in self.rows),
            wall_s=round(sum(row["wall_s"] for row in self.rows), 1),
        )
