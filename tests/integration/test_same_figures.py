"""The same thing has one name, one value and one rounding, wherever a user reads it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hopscope
from flows.pages import artifacts
from pipeline.model.words import confidence_text, ingresses_text, links_text, nodes_text, number
from pipeline.report.texts import figure
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY, real_data
from tests.unit.pipeline.stages.test_search import run

SAMPLES = REPOSITORY / "data" / "samples"
SPECIAL = ("--allow-special", "198.18.0.0/15")
INPUTS = {
    "laboratory": lambda: (
        *sorted((SAMPLES / "lab").glob("h*")),
        *("--ip2as", SAMPLES / "lab" / "lab.pfx2as", *SPECIAL),
    ),
    "topology": lambda: (SAMPLES / "brite" / "topdown_java.brite",),
    "real traces": lambda: (
        real_data("traceroute/pantrace/trace.warts"),
        *("--ip2as", real_data("ip2as/RouteViewIPv4.incomplete.gz")),
    ),
}
FIGURES = ("mean_hops", "median_hops", "p90_hops", "max_hops", "diameter", "effective_diameter")


class Places:
    """A snapshot with its report, and what each place says of it."""

    def __init__(self, folder: Path, inputs: tuple, capsys):
        self.store, self.out, self.capsys = folder / "store", folder / "out", capsys
        self.ingested = self.said("ingest", *inputs, "--store", self.store, "--snapshot", "night")
        places = ("--store", self.store, "--out", self.out)
        metrics = "hops,diameter,radius,center,eccentricities,effective_diameter"
        self.analyzed = self.said("analyze", *places, "--device", "cpu", "--metrics", metrics)
        self.report = self.out / "night"
        self.ases = pq.read_table(self.report / "ases.parquet").to_pylist()
        self.shown = self.said("show", "night", "--store", self.store)

    def said(self, *words: object) -> str:
        self.capsys.readouterr()
        assert run(*words) in (0, 1)  # 1: a file was left out
        return self.capsys.readouterr().out

    def json(self, *words: object) -> dict:
        return json.loads(self.said(*words, "--store", self.store, "--json"))

    def page(self, name: str) -> str:
        """Texts of a page, one space between them."""
        markup = (self.report / name).read_text()
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())

    def as_page(self, asn: int) -> str:
        return self.page(f"as/{asn}.html")


@pytest.fixture(params=INPUTS)
def places(request, tmp_path, capsys, monkeypatch) -> Places:
    monkeypatch.setenv("COLUMNS", "160")
    return Places(tmp_path, INPUTS[request.param](), capsys)


def test_every_place_shows_the_same_figures(places, monkeypatch):
    check_totals(places)
    check_ases(places)
    check_confidence(places)
    check_paths(places)
    check_prefect(places, monkeypatch)


def check_totals(places: Places) -> None:
    """Counts of the whole snapshot, in words and as numbers."""
    totals = json.loads((places.report / "report.json").read_text())["totals"]
    links = pq.read_table(places.report / "as_links.parquet")
    n_between = sum(links["n_links"].to_pylist())
    with open_snapshot(places.store, "night") as snapshot:
        kind, n_silent = snapshot.kind, int(snapshot.n_silent.sum())
        assert n_between == len(snapshot.borders())
    words = ", ".join(
        [
            number(totals["n_ases"], "AS"),
            nodes_text(totals["n_nodes"], kind, n_silent),
            links_text(totals["n_edges"], n_between),
            ingresses_text(totals["n_ingresses"], totals["n_candidates"]),
        ]
    )
    for text in (places.ingested, places.shown, places.analyzed):
        assert words in text
    assert repr(hopscope.open(places.store)["night"]) == f"Snapshot('night': {words})"
    listed = places.json("list")["snapshots"][0]
    names = ("n_ases", "n_nodes", "n_edges", "n_ingresses", "n_candidates", "n_border_links")
    assert {name: listed[name] for name in names} == {name: totals[name] for name in names}
    for name in ("n_nodes", "n_edges", "n_ingresses", "n_candidates"):
        assert sum(row[name] for row in places.ases) == totals[name]
    index = places.page("index.html")
    between = f" inside ASes, {n_between:,} between" if n_between else ""
    assert f"links {totals['n_edges']:,}{between} ingresses {totals['n_ingresses']:,} " in index
    assert f"mean hops {figure(totals['mean_hops'], 'mean_hops')} " in index
    assert f"{number(links.num_rows, 'pair')} of linked ASes" in places.page("internet.html")


def check_ases(places: Places) -> None:
    """Figures of each AS: the terminal, its page, the index and its script."""
    script = (places.report / "ases.js").read_text()
    columns = json.loads(script[script.index("(") + 1 : script.rindex(")")])
    for row in places.ases:
        asn = row["asn"]
        texts = {name: figure(row[name], name) for name in FIGURES if row[name] is not None}
        said = places.said("show", "night", asn, "--store", places.store, "--out", places.out)
        page = places.as_page(asn)
        for name, text in texts.items():
            assert f"{name.replace('_', ' ')} {text}" in said
        if "mean_hops" in texts:
            median, p90 = texts["median_hops"], texts["p90_hops"]
            assert f"mean hops {texts['mean_hops']} median {median} · p90 {p90} " in page
        for name in ("max_hops", "diameter", "effective_diameter"):
            if name in texts:
                assert f"{name.replace('_', ' ')} {texts[name]}" in page
        at = columns["asn"].index(asn)
        for name in ("mean_hops", "median_hops", "p90_hops", "max_hops", "diameter"):
            shown = columns[name][at]
            assert (name not in texts) == (shown is None)
            assert shown is None or figure(shown, name) == texts[name]


def check_confidence(places: Places) -> None:
    """Two confidences, each with its name, rounded the same way."""
    rows = pq.read_table(places.report / "ingresses.parquet").to_pylist()
    rated = [row for row in rows if row["confidence"] is not None]
    for row in rated[:5]:
        text = confidence_text(row["confidence"])
        page = places.as_page(row["asn"])
        assert "ingress confidence" in page
        (found,) = places.json("lookup", row["addr"])["found"][:1]
        if found["asn"] != row["asn"]:  # a private address may be several
            continue
        assert confidence_text(found["ingress_confidence"]) == text
        said = places.said("lookup", row["addr"], "--store", places.store)
        assert f"(ingress confidence {text})" in said
        assert f"(AS confidence {confidence_text(found['confidence'])})" in said
        assert "confidence" not in re.sub("(AS|ingress) confidence", "", said)
        shown = places.said("show", "night", row["asn"], "--store", places.store)
        lines = [line for line in shown.splitlines() if f" {row['addr']}" in line]
        if len(rows) < 10:  # else the table may leave it out
            assert any(text in line for line in lines)


def check_paths(places: Places) -> None:
    """The longest path: the table, the page, and a search; several may be as long."""
    for row in places.ases:
        if (row["diameter"] or 0) < 1 or row["n_nodes"] > 5000:
            continue
        words = ("search", "diameter", f"AS{row['asn']}", "--snapshot", "night", "--device", "cpu")
        found = places.json(*words)
        assert found["result"]["diameter"] == row["diameter"]
        assert found["result"]["path"] == row["diameter_path"]
        ends = [row["diameter_path_addrs"][at] for at in (0, -1)]
        page = places.as_page(row["asn"])
        assert all(end is None or end in page for end in ends)


def check_prefect(places: Places, monkeypatch) -> None:
    """The table on the page of a flow run has the texts of the terminal."""
    told = {}
    take = lambda table, **_: told.update(rows=table)  # noqa: E731
    monkeypatch.setattr(artifacts, "create_table_artifact", take)
    first = max(places.ases, key=lambda row: (row["n_nodes"], -row["asn"]))
    artifacts.show_ases(("asn", "mean"), [(first["asn"], first["mean_hops"])], len(places.ases))
    mean = figure(first["mean_hops"], "mean_hops") if first["mean_hops"] is not None else ""
    assert told["rows"] == [{"asn": first["asn"], "mean": mean}]
    assert mean in places.analyzed
