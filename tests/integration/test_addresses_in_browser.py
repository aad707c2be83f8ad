"""Addresses and prefixes in the search of the index, as people type them, from disk."""

from __future__ import annotations

import ipaddress
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline.model.addresses import format_addr, parse_addr, unique_addrs
from pipeline.report.addresses import shards
from pipeline.report.write import write_reports
from tests.accessibility import findings
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.viewports import PHONE

pytest_plugins = ("tests.browser",)

HOSTILE = "</script><img src=x onerror=\"alert('2')\">"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Three ASes with 600 addresses in shards of 100; AS 20 has the IPv6 ones."""
    rng = np.random.default_rng(11)
    v4 = [parse_addr(f"192.0.{i}.{j}") for i in (2, 3, 4) for j in rng.choice(256, 150, False)]
    v6 = [parse_addr(f"2001:db8:{i:x}::{j:x}") for i in range(50) for j in (0, 1, 0xFFFF)]
    addr = unique_addrs([np.array(v4 + v6, np.uint64)])
    is_v6 = addr[:, 0] != 0
    asn = np.where(is_v6, 20, np.where((addr[:, 1] & np.uint64(0xFF00)) == 0x300, 30, 10))
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: [], 30: []},
        {10: 2, 20: 1, 30: 1},
        [(10, 0, [20], 7, 0, False), (20, 0, [10], 3, 0, False)],
        names={10: HOSTILE, 20: "SIX"},
        addrs={10: ["192.0.2.1", "192.0.2.2"], 20: ["2001:db8::"], 30: ["192.0.3.1"]},
        manifest={"inputs": [{"path": "a.warts", "format": "warts", "status": "ok"}]},
    )
    stored = pa.table(
        {
            "addr_high": addr[:, 0],
            "addr_low": addr[:, 1],
            "asn": pa.array(asn, pa.uint32()),
            "node": pa.array((asn == 10) & (np.arange(len(asn)) % 2 == 1), pa.int32()),
        }
    )
    snapshot.addresses = lambda: stored
    out = tmp_path_factory.mktemp("addresses")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 100)
        path = write_reports(
            snapshot, measured(snapshot), out, options={}, warnings=[], started=time.time()
        ).path
    return path, {
        format_addr(*words): int(of) for words, of in zip(addr.tolist(), asn, strict=True)
    }


def opened(page, folder: Path, query: str) -> str:
    """Text above the list once the query is answered."""
    page.goto("about:blank")
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    page.fill("#find", query)
    page.wait_for_function(
        "() => !document.querySelector('.hits').hidden"
        " && !document.querySelector('.hits').textContent.startsWith('Looking')"
    )
    return page.inner_text(".hits")


def listed(page) -> list[str]:
    return page.locator("#list tbody.rows td.asn").all_inner_texts()


def test_an_address_leads_to_its_as_and_only_its_shard_is_read(page, report):
    folder, owners = report
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(folder.as_uri())))
    texts = list(owners)
    for text in (texts[0], texts[120], texts[299], texts[449], texts[451], texts[-1]):
        asked.clear()
        shown = opened(page, folder, text)
        assert shown.startswith(f"{text} is in AS{owners[text]}"), shown
        assert listed(page) == [str(owners[text])]
        read = [one for one in asked if one.startswith("/addresses/")]
        assert read[0] == "/addresses/index.js"
        assert len(read) == 2
    page.click(".hits a:not(.addr)")
    page.wait_for_url("**/as/20.html**")


def test_ways_to_write_an_address_are_the_same(page, report):
    folder, _ = report
    for text in ("2001:db8:1::ffff", "2001:0DB8:0001:0:0:0:0:FFFF", " 2001:db8:1:0::0.0.255.255 "):
        assert opened(page, folder, text).startswith("2001:db8:1::ffff is in AS20 ingress SIX")
    first = next(text for text, asn in report[1].items() if asn == 10)
    hostile = opened(page, folder, f"::ffff:{first}")
    assert hostile == f"{first} is in AS10 ingress {HOSTILE}"
    assert page.locator("img").count() == 0


@pytest.mark.parametrize(
    "prefix", ["192.0.2.0/24", "192.0.2.77/23", "192.0.0.0/8", "2001:db8::/46", "0.0.0.0/0", "::/0"]
)
def test_a_prefix_finds_the_ases_with_addresses_in_it(page, report, prefix):
    folder, owners = report
    network = ipaddress.ip_network(prefix, strict=False)
    inside = {
        text: asn
        for text, asn in owners.items()
        if (":" in text) == (network.version == 6) and ipaddress.ip_address(text) in network
    }
    shown = opened(page, folder, prefix)
    n_ases = len(set(inside.values()))
    assert shown.startswith(f"{network}: {len(inside)} addresses of {n_ases} AS")
    assert {int(asn) for asn in listed(page)} == set(inside.values())
    entries = page.locator(".hits li").all_inner_texts()
    wanted = [f"{text} AS{asn}" for text, asn in inside.items()][:100]
    assert [" ".join(entry.split()[:2]) for entry in entries] == wanted
    assert ("The first 100 are listed." in shown) == (len(inside) > 100)


@pytest.mark.parametrize(
    ("prefix", "says"),
    [
        ("192.0.3.0/24", ": 150 addresses of 1 AS, none of them at an ingress."),
        ("2001:db8::/126", ": 2 addresses of 1 AS, 2 of them at ingresses."),
        ("2001:db8::/128", " is in AS20 ingress SIX"),
        ("2001:db8::1:0/112", "No AS of this report has an address in 2001:db8::1:0/112."),
        ("2001:db8::8000/113", ": 1 address of 1 AS, at an ingress."),
    ],
)
def test_ingresses_among_addresses_are_counted_in_words(page, report, prefix, says):
    assert says in opened(page, report[0], prefix)


def test_an_address_that_is_not_there_leads_to_what_is_around_it(page, report):
    folder, owners = report
    missing = next(f"192.0.2.{i}" for i in range(256) if f"192.0.2.{i}" not in owners)
    assert f"No AS of this report has the address {missing}." in opened(page, folder, missing)
    assert listed(page) == []
    assert not page.is_visible("text=number or name")  # that was not what was looked for
    page.click(".hits a:not(.addr)")
    page.wait_for_selector(".hits li")
    assert page.inner_text(".hits").startswith("192.0.2.0/24: 150 addresses of 1 AS,")
    assert "No AS of this report has an address in 10.0.0.0/8." in opened(
        page, folder, "10.0.0.0/8"
    )
    page.fill("#find", "")
    assert not page.is_visible(".hits")
    assert len(listed(page)) == 3


def test_what_is_no_address_is_a_word(page, report):
    folder, _ = report
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    for text in ("10", "no such name", "six"):
        page.fill("#find", text)
        assert not page.is_visible(".hits"), text
    assert listed(page) == ["20"]


def test_a_missing_shard_is_said(page, report, tmp_path):
    folder, owners = report
    for name in ("index.html", "hopscope.js", "hopscope.css", "lookup.js", "ases.js"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    shown = opened(page, tmp_path, next(iter(owners)))
    assert shown.endswith("addresses/index.js cannot be read: it is part of this report.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hits_are_accessible_and_fit(browser, report, scheme):
    context = browser.new_context(color_scheme=scheme, viewport=PHONE)
    try:
        page = context.new_page()
        opened(page, report[0], "192.0.2.0/24")
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    finally:
        context.close()


@pytest.mark.parametrize(
    "typed",
    ["192.0.2.", "192.0.2.256", "999.1.1.1", "192.0.2.7/33", "192.0.2.0/99", "2001:db8::1::"],
)
def test_what_is_almost_an_address_is_said_to_be_none_beside_the_search(page, report, typed):
    shown = opened(page, report[0], typed)
    assert shown.startswith(
        "This is not an IP address or prefix, such as 192.0.2.1 or 192.0.2.0/24"
    )
    assert not page.is_visible(".none")  # once is enough
    assert listed(page) == []
    page.fill("#find", "no such name")
    assert page.is_visible("text=No AS has this number or name.")
    assert not page.is_visible(".hits")
    page.fill("#find", "192.0.2.0/24")
    page.wait_for_selector(".hits li")
    page.fill("#find", typed)
    assert page.inner_text(".hits") == shown
    page.fill("#find", "")
    assert not page.is_visible(".hits")


def test_a_report_without_traces_says_that_it_has_no_addresses(page, tmp_path):
    entry = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 10]]}
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [], manifest={"inputs": [entry]})
    out = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=time.time()
    ).path
    assert not (out / "addresses").exists()
    page.goto((out / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    assert page.get_attribute("#find", "placeholder") == "Find by number or name"
    page.fill("#find", "192.0.2.7")
    assert page.is_visible("text=This report has no index of addresses")
