"""How figures of ASes went, on the page of a comparison."""

from __future__ import annotations

import re

import pytest

from pipeline.report import write_reports
from pipeline.report.comparison import write_comparison
from pipeline.report.nights.of_ases import histories_of
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.test_comparison import EVIL, some_changes

DAYS = [f"2026-11-{day}" for day in (18, 19, 20, 21)]


@pytest.fixture
def out(tmp_path):
    """AS7 is a path that grows by one router a night; AS12 is there on the last night only."""
    for i, name in enumerate([*DAYS, "lab"]):
        ases = {7: [(v, v + 1) for v in range(i + 1)]} | ({12: [(0, 1)]} if i > 2 else {})
        ingresses = [(asn, 0, [20], 3, 0, False) for asn in ases]
        n_nodes = {asn: len(links) + 1 for asn, links in ases.items()}
        found = MemorySnapshot(ases, n_nodes, ingresses, name=name)
        write_reports(found, measured(found), tmp_path, options={}, warnings=[], started=0.0)
    return tmp_path


def test_an_as_is_drawn_over_the_nights_up_to_one(out):
    (one,) = histories_of(out, DAYS[2], [7, 99], {7: EVIL})
    assert (one.asn, one.name) == (7, "<script>alert(1)</script>\ufffd")
    drawn = {what: (last, svg.count("<circle")) for what, last, svg in one.drawings}
    assert drawn == {"mean hops": ("2.00", 3), "interfaces": ("4", 3), "ingresses": ("1", 3)}
    assert DAYS[3] not in one.drawings[0][2]
    assert histories_of(out, DAYS[0], [7], {}) == []  # one night is no history
    assert histories_of(out, "lab", [7], {}) == []
    assert histories_of(out, DAYS[3], [12], {}) == []


def test_nights_of_one_date_are_drawn_in_the_order_of_their_records(tmp_path):
    """The first of its date has the newest records, and no other night is newer."""
    date = "2026-03-29"
    for n, (name, newest_s) in enumerate([(date, 9e8), (f"{date}T003000Z", 8e8)], 2):
        found = MemorySnapshot(
            {7: [(v, v + 1) for v in range(n)]},
            {7: n + 1},
            [(7, 0, [20], 3, 0, False)],
            name=name,
            manifest={"inputs": [{"newest_s": newest_s}]},
        )
        write_reports(found, measured(found), tmp_path, options={}, warnings=[], started=0.0)
    (one,) = histories_of(tmp_path, date, [7], {})
    assert one.drawings[1][1] == "3"  # interfaces of the last night
    assert histories_of(tmp_path, f"{date}T003000Z", [7], {}) == []


def test_a_table_that_cannot_be_read_leaves_a_gap(out):
    (out / DAYS[1] / "ases.parquet").write_bytes(b"PAR1")
    (one,) = histories_of(out, DAYS[3], [7], {})
    svg = one.drawings[0][2]
    assert (svg.count("<circle"), len(re.findall(r"M[\d.]", svg))) == (3, 2)


def test_the_page_of_a_comparison_draws_the_ases_of_its_first_events(out):
    write_comparison(out, DAYS[2], DAYS[3], *some_changes(), {7: EVIL})
    page = (out / DAYS[3] / "changes.html").read_text()
    section = page.split('id="histories"')[1].split("</section>")[0]
    assert re.findall(r'href="as/(\d+)\.html"', section) == ["7"]
    assert section.count("<svg class=") == 3
    assert "<script" not in section
    write_comparison(out, "lab", "lab2", *some_changes(), {})
    assert 'id="histories"' not in (out / "lab2" / "changes.html").read_text()


def test_nights_of_another_kind_of_nodes_are_not_drawn(out):
    path = out / DAYS[2] / "report.json"
    path.write_text(path.read_text().replace('"interface"', '"router"'))
    (one,) = histories_of(out, DAYS[3], [7], {})
    assert [what for what, _, _ in one.drawings] == ["mean hops", "interfaces", "ingresses"]
    assert [svg.count("<circle") for _, _, svg in one.drawings] == [3, 3, 3]
