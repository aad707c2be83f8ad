"""The ablation of real rules, in tiny networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.infer.rules import RULES
from tests.oracles.ablation.__main__ import WITH_FILES, find_tasks, main
from tests.oracles.ablation.gains import EVERYWHERE
from tests.oracles.ablation.judging import ALL_RULES, TOGETHER
from tests.oracles.ablation.page import compared_part, made_part
from tests.real_data import REPOSITORY

TINY = (
    "n_tier1=2",
    "n_transit=3",
    "n_regional=3",
    "n_stub=8",
    "tier1=(4, 5)",
    "transit=(2, 4)",
    "n_vantage_points=3",
    "blocks=(1, 1, 1, 1, 1)",
)
NUMBERING = "numbering"
SAMPLE = REPOSITORY / "data/samples/lab"
IDLE = "organisations"  # no files are given


def ablate(folder: Path, *words: str) -> dict[str, Any]:
    path = folder / "found.json"
    assert main([*TINY, *words, "--seeds", "3-4", "--json", str(path)]) == 0
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("ablation")
    return ablate(folder, "plain", "provider31", "--rules", NUMBERING, IDLE)


def test_a_rule_that_is_left_out_is_missed(result: dict[str, Any]) -> None:
    assert [one["name"] for one in result["rules"]] == [NUMBERING, IDLE]
    assert [(one["family"], one["n"]) for one in result["families"]] == [
        ("plain", 2),
        ("provider31", 2),
    ]
    rows = {(row["rule"], row["family"]): row for row in result["rows"]}
    everywhere = rows[NUMBERING, EVERYWHERE]
    assert everywhere["n_changed"] == everywhere["R_n"] == 4
    assert everywhere["R"] > 0.1  # borders are where numbers say, but for who numbers a link
    assert result["failed"] == []


def test_families_take_turns_and_may_know_more() -> None:
    words = ["plain", "ixp:registries-inferred-routers", "silent=0.3"]
    tasks = find_tasks(words, [5, 6], (IDLE,))
    assert [(task.source.name, task.family) for task in tasks] == [
        ("plain-5", "plain"),
        ("ixp-5", "ixp, registries, inferred routers"),
        ("plain-6", "plain"),
        ("ixp-6", "ixp, registries, inferred routers"),
    ]
    assert all(task.rules == (IDLE,) for task in tasks)
    assert all(task.source.at.silent == 0.3 for task in tasks)
    assert [bool(task.options.get("registries")) for task in tasks] == [False, True] * 2
    assert len(find_tasks(["all"], [5], ())) > 25


def test_what_cannot_be_inferred_is_recorded_and_the_rest_is_judged() -> None:
    (task,) = find_tasks(["plain", *TINY], [3], ("no-such-rule", IDLE))
    outcome = task.run()
    assert list(outcome.figures) == [ALL_RULES, IDLE]
    assert list(outcome.failed) == ["no-such-rule"]
    assert "no rule is named 'no-such-rule'" in outcome.failed["no-such-rule"]
    assert outcome.figures[ALL_RULES] == outcome.figures[IDLE]


def test_rules_may_be_left_out_together() -> None:
    both = f"{IDLE}{TOGETHER}{NUMBERING}"
    (task,) = find_tasks(["plain", *TINY], [3], (NUMBERING, both))
    outcome = task.run()
    assert outcome.failed == {}
    assert outcome.figures[both] == outcome.figures[NUMBERING] != outcome.figures[ALL_RULES]


def test_networks_without_files_are_not_judged_with_them() -> None:
    (task,) = find_tasks([f"{SAMPLE}:{WITH_FILES}"], [1], ())
    outcome = task.run()
    assert (outcome.figures, list(outcome.failed)) == ({}, [ALL_RULES])
    assert "no files of registries" in outcome.failed[ALL_RULES]


def test_processes_find_the_same(result: dict[str, Any], tmp_path: Path) -> None:
    words = ("plain", "provider31", "--rules", NUMBERING, IDLE, "--workers", "2")
    assert ablate(tmp_path, *words)["rows"] == result["rows"]


def test_the_page_says_what_is_in_the_file(result: dict[str, Any]) -> None:
    text = made_part(result)
    assert text.startswith("4 networks, each judged with all rules and without each of 2; ")
    assert f"| `{NUMBERING}` | 2 of 2 | " in text
    assert f"| `{IDLE}` | 0 of 2 | 0 | 0 | 0 | 0 | 0 | none | none |" in text
    assert f"- Changes nothing in any family: {IDLE}." in text
    assert "| provider31 | 2 | 0." in text


def test_the_page_says_what_changed_in_the_same_networks(result: dict[str, Any]) -> None:
    assert result["families"][0]["family"] == "plain"
    before = [{**one, "P": one["P"] - 0.004} for one in result["families"][:1]]
    text = compared_part({**result, "families": before, "commit": "0ld"}, result)
    assert "commit 0ld" in text
    row = next(line for line in text.splitlines() if line.startswith("| plain | 2 | "))
    assert row.count("(+0.004)") == row.count("(") == 1
    assert "| provider31 | 2 |" not in text  # only one of the two has it


def test_time_that_is_over_leaves_networks_out(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    found = ablate(tmp_path, "plain", "provider31", "--rules", IDLE, "--minutes", "0")
    assert [(one["family"], one["n"]) for one in found["families"]] == [("plain", 1)]
    assert "3 networks were left out: 0 minutes are over" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plain", "--rules", "no-such-rule"], f"no rule no-such-rule; there are {RULES[0].name}"),
        (["nowhere"], "nowhere: not a folder"),
        (["plain:guessed"], "plain:guessed: no way guessed; there are elected"),
    ],
)
def test_what_there_is_not_is_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1
