"""A sample of traces, and a generated file: the same counts and terms everywhere."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re

import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
TRACED, MADE = 64497, 2  # an AS of the lab that has candidates, one of the generated file
# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
COMMAND = (
    "hopscope generate top-down --routers 60 --ases 3 --as-model ba --router-model ba --links 2 "
    "--alpha 0.15 --growth incremental --edge-connection smallest-non-leaf --k 2 "
    "--placement random --bandwidth uniform:10:1024 --seed 7"
)
TABLES = ["--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15"]


def run(*words: object, said: io.StringIO | None = None) -> str:
    """What a command prints as its result; its other output goes to ``said``."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said or io.StringIO()),
        pytest.raises(SystemExit) as stopped,
    ):
        main([str(word) for word in words])
    assert stopped.value.code == 0
    return printed.getvalue()


class Places:
    """What commands printed about an input, and what is in its store and its report."""

    def __init__(self, scheduler_address, folder, *given):
        where = ["--store", folder / "store", "--snapshot", "demo"]
        self.ingested = run("ingest", *given, *where)
        where += ["--scheduler", scheduler_address]
        out = ["--out", folder / "json", "--no-pages", "--json"]
        self.facts = json.loads(run("run", *given, *where, *out))
        self.analyzed = run("analyze", *where, "--out", folder / "reports")
        self.snapshot = open_snapshot(folder / "store", "demo")
        self.folder = folder / "reports" / "demo"
        self.report = json.loads((self.folder / "report.json").read_text())
        self.ases = pq.read_table(self.folder / "ases.parquet").to_pylist()
        self.ingresses = pq.read_table(self.folder / "ingresses.parquet").to_pylist()

    def page(self, name: str) -> str:
        """Text of a page in one line."""
        markup = (self.folder / name).read_text().split("<main>")[1]
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


@pytest.fixture(scope="module")
def traced(scheduler_address, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "120")
        folder = tmp_path_factory.mktemp("traced")
        return Places(scheduler_address, folder, LAB, *TABLES, "--routers", "interfaces")


@pytest.fixture(scope="module")
def made(scheduler_address, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    run(*COMMAND.split()[1:], "--out", folder / "made.brite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "120")
        return Places(scheduler_address, folder, folder / "made.brite")


def test_ingresses_and_candidates_are_apart_and_the_same_everywhere(traced):
    places = traced
    candidates = [row["candidate"] for row in places.ingresses]
    n_candidates = sum(candidates)
    n = len(candidates) - n_candidates
    assert min(n, n_candidates) > 20
    reported = f"{n} ingresses and {n_candidates} candidates"
    assert reported in places.ingested
    assert reported in places.analyzed
    for counted in (places.facts, places.report["totals"], places.snapshot.manifest):
        assert (counted["n_ingresses"], counted["n_candidates"]) == (n, n_candidates)
    assert sum(row["n_ingresses"] for row in places.ases) == n
    assert sum(row["n_candidates"] for row in places.ases) == n_candidates
    index = places.page("index.html")
    assert f"ingresses {n} + {n_candidates} candidates" in index
    assert f"hops from {n} of {n} ingresses" in index
    shown = {
        int(row[0]): (int(row[1]), int(row[2]))
        for row in re.findall(
            r"│ +(\d+)│(?:[^│]*│){2} +(\d+)│(?:[^│]*│){3} +(\d+)│", places.analyzed
        )
    }
    assert len(shown) == 10
    for row in places.ases:
        both = (row["n_ingresses"], row["n_candidates"])
        assert shown.get(row["asn"], both) == both
        page = places.page(f"as/{row['asn']}.html")
        apart = f"ingresses {both[0]} + {both[1]} candidate" if both[1] else f"ingresses {both[0]}"
        assert apart in page
        heading = (
            f"Ingresses {both[0]} and {both[1]} candidate" if both[1] else f"Ingresses {both[0]}"
        )
        assert heading in page


def test_the_mapped_share_is_reported_wherever_traces_are(traced, made):
    places = traced
    n, n_mapped = (places.report["counts"][name] for name in ("n_addrs", "n_addrs_mapped"))
    assert 300 < n_mapped <= n
    reported = f"{n_mapped} of {n} addresses mapped or admitted ("
    for shown in (places.ingested, places.analyzed, places.page("index.html")):
        assert reported in shown
    assert f"Of the whole snapshot {reported}" in (places.folder / "night.js").read_text()
    for asn, of in ((TRACED, places), (MADE, made)):
        text = (of.folder / "as" / f"{asn}.html").read_text()
        assert ("data-night=mapped>" in text) == (of is places)
    for shown in (made.ingested, made.page("index.html")):
        assert "mapped or admitted" not in shown


def test_interfaces_are_called_so_where_nothing_was_merged(traced, made):
    of_traces, of_made = traced.page(f"as/{TRACED}.html"), made.page(f"as/{MADE}.html")
    assert "Hops from an ingress to an interface" in of_traces
    assert "Hops from an ingress to a router" in of_made
    assert "interface" not in of_made
    limit = "fewer real routers"
    assert re.findall(r"\S+ \S+ routers?\b", of_traces.replace(limit, "")) == ["to one router"]
    for places, noun in ((traced, "interface"), (made, "router")):
        n_nodes = sum(row["n_nodes"] for row in places.ases)
        assert f"{n_nodes} {noun}s" in places.ingested.replace(",", "")
        assert places.facts["node_kind"] == places.report["node_kind"] == noun
        assert places.facts["n_routers"] == (n_nodes if noun == "router" else None)


def test_generated_ases_are_called_so_wherever_they_are_shown(traced, made):
    for shown in (made.analyzed, made.page("index.html"), made.page(f"as/{MADE}.html")):
        assert COMMAND in shown
        assert "made.brite" in shown
        assert re.search("synthetic", shown, re.IGNORECASE)
    assert "ynthetic" not in traced.page(f"as/{TRACED}.html")
    (synthetic,) = made.report["synthetic"]
    assert (synthetic["made_by"], synthetic["n_ases"]) == (COMMAND, 3)
    assert synthetic["input"].endswith("made.brite")
    assert made.facts["synthetic"] == made.report["synthetic"]
    assert traced.report.get("synthetic", []) == []


def test_a_snapshot_that_a_generator_wrote_says_so_and_one_has_no_plural(tmp_path):
    store, out, said = tmp_path / "store", tmp_path / "out", io.StringIO()
    command = (
        "hopscope generate ba --routers 40 --links 2 --level router --placement random "
        "--bandwidth uniform:10:1024 --seed 9 --asn 7 --ingresses 1"
    )
    run(*command.split()[1:], "--store", store)
    reported = run("analyze", "--store", store, "--out", out, "--workers", 1, said=said)
    meanwhile = [line.split(":")[0] for line in said.getvalue().splitlines()]
    assert meanwhile.index("Starting workers") < meanwhile.index("Searching")
    plural = r"(?<!of )\b1 (?:ASes|routers|links|ingresses|searches|tasks|workers|files)\b"
    assert re.findall(plural, said.getvalue() + reported) == []
    assert f"Synthetic, not measured: all made by {command}" in reported
    assert re.search(r"┃ +routers┃", reported)
    (page,) = out.glob("*/as/7.html")
    for markup in (page.read_text(), (page.parents[1] / "index.html").read_text()):
        assert "<b>Synthetic</b>" in markup
        assert command in markup
        assert "0 files" not in markup
        assert "alias file" not in markup
        assert re.findall(plural, re.sub(r"<[^>]*>", "", markup)) == []
    report = json.loads((page.parents[1] / "report.json").read_text())
    made = {"input": None, "made_by": command, "n_ases": 1, "node_kind": "router"}
    assert report["synthetic"] == [made]


def test_a_report_of_some_generated_ases_counts_those_that_it_has(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    run("generate", "internet", "--routers", 60, "--ases", 3, "--store", store, "--snapshot", "n")
    reported = run("analyze", "--store", store, "--out", out, "--asn", "1,3")
    assert "not measured: all made by hopscope generate internet" in reported
    report = json.loads((out / "n" / "report.json").read_text())
    assert [source["n_ases"] for source in report["synthetic"]] == [2]
    assert "not measured: 3 ASes made by" in run("show", "n", "--store", store)
