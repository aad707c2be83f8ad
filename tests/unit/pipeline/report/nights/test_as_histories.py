"""Figures of all ASes over the nights, as scripts."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.report import write_reports
from pipeline.report.comparison import write_comparison
from pipeline.report.nights.as_histories import FIGURES, SHARD, changes_text, write_histories
from pipeline.report.nights.series import series_up_to
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.test_comparison import some_changes

DAYS = [f"2026-11-{day}" for day in (18, 19, 21, 22)]
OPTIONS = {"borders": "elected", "hopscope": "1.0", "inference_rules": 7}
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def night(out, name, n, options=None, formats=("warts",), kind="interface"):
    """AS7 is a path of ``n`` nodes, which AS12 and others are beside."""
    ases = {7: [(v, v + 1) for v in range(n - 1)], 12: [(0, 1)]}
    found = MemorySnapshot(
        ases,
        {7: n, 12: 2},
        [(asn, 0, [20], 3, 0, False) for asn in ases],
        name=name,
        manifest={
            "kind": kind,
            "options": OPTIONS | (options or {}),
            "inputs": [{"path": f"a.{name}", "format": name, "status": "ok"} for name in formats],
            "counts": {"n_addrs": 200, "n_addrs_mapped": 180 + n},
        },
    )
    write_reports(found, measured(found), out, options={}, warnings=[], started=0.0)


def read(out, name, key):
    (call,) = re.findall(
        r"^hopscope\.history\((.*)\);\n$", (out / name / "history" / f"{key}.js").read_text()
    )
    given, value = json.loads(f"[{call}]")
    assert given == key
    return value


def numbers(text):
    value = shift = 0
    for character in text:
        digit = DIGITS.index(character)
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            yield value
            value = shift = 0


def decoded(text, n_ases, n_nights):
    """What the script of a page reads from a shard: values as whole steps, None for unknown."""
    found, numbered = [], numbers(text)
    for _ in range(n_ases * len(FIGURES)):
        values, step = [], 0
        for _ in range(next(numbered)):
            values += [step] * next(numbered)
            change = next(numbered)
            step += -(change >> 1) if change & 1 else change >> 1
            values.append(step)
        values += [step] * (n_nights - len(values))
        found.append([None if v == 0 else v - (v > 0) for v in values])
    return found


@pytest.fixture
def out(tmp_path):
    for n, name in enumerate(DAYS, 2):
        night(tmp_path, name, n)
    return tmp_path


def test_figures_of_each_night_come_back(out):
    index, shard = read(out, DAYS[3], "index"), read(out, DAYS[3], 0)
    assert index["nights"] == DAYS
    assert index["apart"] == [0, 0, 0, 0]  # two days are not more than twice the usual one
    assert index["mapped"] == [91.0, 91.5, 92.0, 92.5]
    assert (index["firsts"], shard["asns"]) == ([7], [7, 12])
    values = decoded(shard["text"], 2, 4)
    keys = [figure.key for figure in FIGURES]
    assert values[keys.index("n_nodes")] == [2, 3, 4, 5]
    assert values[keys.index("mean_hops")] == [100, 150, 200, 250]
    assert values[keys.index("diameter")] == [None] * 4  # not measured
    assert values[len(keys) + keys.index("n_nodes")] == [2, 2, 2, 2]
    assert read(out, DAYS[0], "index") == {"nights": []}


def test_any_figures_are_as_they_were():
    rng = np.random.default_rng(5)
    steps = rng.integers(-3, 9, (5, len(FIGURES), 30)) * rng.integers(0, 1 << 26, (5, 1, 30))
    text = changes_text(steps.astype(np.int32))
    expected = [
        [None if v == 0 else v - (v > 0) for v in row] for row in steps.reshape(-1, 30).tolist()
    ]
    assert decoded(text, 5, 30) == expected
    assert len(changes_text(np.ones((SHARD, len(FIGURES), 60), np.int32))) == 3 * SHARD * len(
        FIGURES
    )


def test_nights_of_other_settings_are_left_out_and_those_of_another_version_marked(out):
    night(out, "2026-11-23", 9, {"inference_rules": 8})
    night(out, "2026-11-24", 9, {"borders": "prefix"})
    night(out, "2026-11-25", 9, {"without_rule": ["loops"]})
    night(out, "2026-11-26", 9, formats=("warts", "atlas"))
    night(out, "2026-11-27", 9, kind="router")
    night(out, "2026-11-28", 6)
    series = series_up_to(out, "2026-11-28")
    assert [one.name for one in series.nights] == [*DAYS, "2026-11-23", "2026-11-28"]
    marked = [one.made_otherwise for one in series.nights]
    assert marked == ["", "", "", "", "rules of inference 8", ""]
    assert series.left_out == [
        ("2026-11-24", "--borders prefix"),
        ("2026-11-25", "--without-rule ['loops']"),
        ("2026-11-26", "formats atlas, warts"),
        ("2026-11-27", "nodes router"),
    ]
    assert series_up_to(out, DAYS[1]).days == [one.day for one in series.nights[:2]]
    assert series_up_to(out, "lab").nights == []


def test_events_of_an_as_are_marked_on_the_night_that_has_them(out):
    write_comparison(out, DAYS[2], DAYS[3], *some_changes(), {})
    index, shard = read(out, DAYS[3], "index"), read(out, DAYS[3], 0)
    assert index["compared"] == [0, 0, 0, 1]
    assert {night for night, _, _ in shard["events"]["7"]} == {3}
    events = pq.read_table(out / DAYS[3] / "events.parquet")["kind"].to_pylist()
    for _, event, kind in shard["events"]["7"]:
        assert index["kinds"][kind] == events[event]
    night(out, "2026-11-23", 9)  # later nights know them, too
    assert read(out, "2026-11-23", 0)["events"] == shard["events"]


def test_rtt_that_an_as_adds_is_the_median_of_its_ingresses_by_their_traces(out):
    """RTTs that are added may be below zero; nights of before did not keep them."""
    path = out / DAYS[2] / "ingresses.parquet"
    ms = pa.array([5.0, -0.1, 2.0, None, 7.0], pa.float32())
    columns = {"asn": [7, 7, 7, 12, 99], "delay_ms": ms, "delay_n_traces": [1, 5, 3, 0, 1]}
    pq.write_table(pa.table(columns), path)
    pq.write_table(pa.table({"asn": [7]}), out / DAYS[3] / "ingresses.parquet")
    write_histories(out, DAYS[3], out / DAYS[3])
    values = decoded(read(out, DAYS[3], 0)["text"], 2, 4)
    at = [figure.key for figure in FIGURES].index("delay_ms")
    assert values[at] == [None, None, -1, None]
    assert values[len(FIGURES) + at] == [None] * 4


def test_a_table_that_cannot_be_read_leaves_a_gap(out):
    (out / DAYS[1] / "ases.parquet").write_bytes(b"PAR1")
    (out / DAYS[2] / "events.parquet").write_bytes(b"PAR1")
    write_histories(out, DAYS[3], out / DAYS[3])
    assert decoded(read(out, DAYS[3], 0)["text"], 2, 4)[0] == [2, None, 4, 5]
