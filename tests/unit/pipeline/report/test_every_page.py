"""What every page of a report says, of whatever kind: pages that come later are tested as well."""

from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path

from pipeline.report import write_reports
from pipeline.report.nights import write_nights
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

NIGHT = "2026-11-21"
MADE = {"model": "ba", "seed": 3, "command": "hopscope generate ba --routers 5 --links 2 --seed 3"}
MAP = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 20]]}
TRACES = {"path": "a.warts", "format": "warts", "kind": "interface", "as_ranges": [[10, 20]]}


def pages(folder: Path, manifest: dict, warnings: tuple[str, ...] = ()) -> dict[str, str]:
    """Text of each page below a folder, in one line; what is in attributes is left out."""
    snapshot = MemorySnapshot(
        {10: [(0, 1), (1, 2), (3, 4)], 20: [(0, 1)]},
        {10: 5, 20: 2},
        [(10, 0, [20], 7, 0, False), (10, 1, [20], 0, 2, True), (20, 0, [10], 5, 0, False)],
        name=NIGHT,
        manifest=manifest,
        exits=[(10, 2, 20, 3)],
        borders=[(10, 20, 12)],
    )
    write_reports(
        snapshot,
        measured(snapshot),
        folder,
        options={},
        warnings=list(warnings),
        started=time.time(),
    )
    write_nights(folder)
    found = {}
    for path in sorted(folder.rglob("*.html")):
        main = path.read_text().split("<main>")[1]
        name = str(path.relative_to(folder))
        found[name] = html.unescape(" ".join(re.sub(r"<[^>]*>", " ", main).split()))
    return found


def test_every_page_of_a_generated_snapshot_says_so_with_model_and_seed(tmp_path):
    shown = pages(tmp_path, {"options": MADE, "kind": "router"})
    assert len(shown) == 5
    for name, text in shown.items():
        assert "synthetic" in text.lower(), name
        assert MADE["command"] in text, name
    for measured_inputs in ([TRACES], [MAP]):
        kind = {"inputs": measured_inputs, "kind": measured_inputs[0]["kind"]}
        for name, text in pages(tmp_path / kind["kind"], kind).items():
            assert "synthetic" not in text.lower(), name


def test_every_page_says_interfaces_where_nothing_was_merged_and_routers_elsewhere(tmp_path):
    about_routers = "belong to one router|fewer real routers|none were merged into routers"
    for name, text in pages(tmp_path / "a", {"inputs": [TRACES]}).items():
        assert "router" not in re.sub(about_routers, "", text).lower(), name
        assert "interface" in text.lower(), name
    for name, text in pages(tmp_path / "b", {"inputs": [MAP], "kind": "router"}).items():
        assert "interface" not in text.lower(), name
        assert "router" in text.lower(), name


def test_ingresses_are_counted_without_candidates_on_every_page(tmp_path):
    shown = pages(tmp_path, {"inputs": [TRACES]})
    report = f"{NIGHT}/"
    assert " ingresses 2 + 1 candidate " in shown[report + "index.html"]
    assert " hops from 2 of 2 ingresses " in shown[report + "index.html"]
    assert "by 2 interfaces" in shown[report + "index.html"]  # the first sentence
    assert " ingresses 1 + 1 candidate " in shown[report + "as/10.html"]
    assert " Ingresses 1 and 1 candidate " in shown[report + "as/10.html"]
    assert "enters AS10 by 1 interface," in shown[report + "as/10.html"]
    assert " ingresses 1 mean hops " in shown[report + "as/20.html"]
    assert " Linked ASes 10 7 1 1 20 5 1 1 " in shown[report + "internet.html"]
    assert f" {NIGHT} ok 2 7 2 " in shown["index.html"]
    totals = json.loads((tmp_path / NIGHT / "report.json").read_text())["totals"]
    assert (totals["n_ingresses"], totals["n_candidates"]) == (2, 1)


def test_the_mapped_share_is_on_every_page_and_a_low_one_warns_first(tmp_path):
    share = "800 of 1,000 addresses mapped or admitted (80.0 %)"
    manifest = {"inputs": [TRACES], "counts": {"n_addrs": 1000, "n_addrs_mapped": 800}}
    warnings = (f"{share}: --allow-special 10.0.0.0/8", "another")
    shown = pages(tmp_path, manifest, warnings)
    index = shown[f"{NIGHT}/index.html"]
    assert index.count("mapped 80.0 % 800 of 1,000 addresses 2 warnings " + warnings[0]) == 1
    assert index.index(warnings[0]) < index.index("another") < index.index("Hops from an ingress")
    internet = shown[f"{NIGHT}/internet.html"]
    assert internet.index(share) < internet.index("by entering traces")
    assert " 80.0 % " in shown["index.html"]
    for page in (tmp_path / "index.html", tmp_path / NIGHT / "index.html"):
        assert "80.0\xa0%" in page.read_text()  # in one line
    # Pages of ASes take it from a script, so that theirs need not be written again.
    night = (tmp_path / NIGHT / "night.js").read_text()
    assert f"Of the whole snapshot {share}".replace(" %", "\\u00a0%") in night
    assert '"is_mapped_low":true' in night
    without_scripts = "The share of mapped addresses is on the <a href=../index.html>index</a>."
    for asn in (10, 20):
        page = (tmp_path / NIGHT / "as" / f"{asn}.html").read_text()
        assert f"<span data-night=mapped>{without_scripts}</span>" in page
