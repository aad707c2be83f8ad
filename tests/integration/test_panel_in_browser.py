"""The panel on one router: from every page, from disk, and what `hopscope why` says."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.model.addresses import format_addr
from pipeline.model.measured.host_names import HostNames
from pipeline.model.words import amount
from pipeline.report.tables.node_names import node_texts
from pipeline.report.write import write_reports
from pipeline.stages.contents.why import reasons_for
from pipeline.store import open_snapshot
from pipeline.terminal.why import router_lines, seen_text
from tests.accessibility import findings
from tests.addresses import parse_addrs
from tests.real_data import REPOSITORY
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)

LAB = REPOSITORY / "data" / "samples" / "lab"
TABLES = ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
HOSTILE = "</script><img src=x onerror=\"alert('2')\">"
CITY = "<b>Paris</b>"  # third-party text
FIRST, NIGHT = "2026-01-01", "2026-01-02"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Store and reports of two nights of some of the traces, and their comparison."""
    folder = tmp_path_factory.mktemp("panel")
    store, out = folder / "store", folder / "reports"
    places = ["--store", str(store), "--out", str(out)]
    located = folder / "places.csv"
    located.write_text(
        # One of the ends of the laboratory is in Sydney: light takes longer than the traces did.
        f"198.18.0.0/15,48.86,2.35,{CITY},FR\n198.18.0.0/20,-33.87,151.21,Sydney,AU\n"
    )
    for night, hosts in ((FIRST, "01"), (NIGHT, "0123")):
        files = [str(LAB / f"h{host}.icmp-paris.warts.gz") for host in hosts]
        with pytest.raises(SystemExit) as ended:
            main(
                ["run", *files, *places, "--snapshot", night, *TABLES, "--locations", str(located)]
            )
        assert ended.value.code == 0
    with contextlib.suppress(SystemExit):
        main(["compare", FIRST, NIGHT, *places])
    assert (out / NIGHT / "changes.html").exists()
    return store, out / NIGHT


def opened(page, url: str) -> None:
    page.goto("about:blank")
    page.goto(url)
    page.wait_for_selector(".panel[open] :is(dl, .about p)")


def shown(page) -> dict[str, list]:
    """What the panel says: labels with texts, reasons, rows of neighbours."""
    return page.evaluate(
        """() => {
          const all = (selector) => [...document.querySelectorAll(`.panel ${selector}`)];
          const texts = (selector) => all(selector).map((one) => one.textContent);
          const labels = texts("dt"), values = texts("dd");
          return {
            lines: labels.map((label, i) => [label, values[i]]),
            reasons: texts(".why li"),
            links: all(".links tbody tr").map((row) => [...row.cells].map((c) => c.textContent)),
          };
        }"""
    )


def test_the_panel_says_what_the_command_says(page, lab):
    store, folder = lab
    with open_snapshot(store, NIGHT) as snapshot:
        table = snapshot.addresses()
        words = zip(table["addr_high"].to_pylist(), table["addr_low"].to_pylist(), strict=True)
        addresses = [format_addr(*each) for each in words]
        asns = dict(zip(addresses, table["asn"].to_pylist(), strict=True))
        busy = {
            (int(snapshot.asn[row]), node)
            for found in (snapshot.ingresses(), snapshot.exits())
            for row, node in zip(found.row.tolist(), found.node.tolist(), strict=True)
        }
        at = zip(addresses, table["asn"].to_pylist(), table["node"].to_pylist(), strict=True)
        doors = [address for address, *place in at if tuple(place) in busy]
        asked = sorted({*doors[::3], *addresses[::9]}, key=asns.__getitem__)
        assert len(asked) > 40
        page.goto((folder / "index.html").as_uri())
        kinds, placed = set(), set()
        for address in asked:
            facts = reasons_for(snapshot, address)
            kinds |= {label for label, _ in router_lines(facts)}
            placed |= {
                text.split(",")[0] for label, text in router_lines(facts) if label == "Place"
            }
            url = (folder / "as" / f"{asns[address]}.html").as_uri()
            if page.url.split("#")[0] == url:
                page.evaluate("address => { location.hash = `router=${address}`; }", address)
            else:
                opened(page, f"{url}#router={address}")
            page.wait_for_function(
                "address => document.getElementById('panel-title')?.textContent === address"
                " && document.querySelector('.panel dl')",
                arg=address,
            )
            said = shown(page)
            assert said["lines"] == [list(line) for line in router_lines(facts)], address
            assert said["reasons"] == facts["sentences"], address
            assert said["links"] == [
                [
                    one["addr"] or f"node {one['node']}",
                    f"AS{one['asn']}",
                    f"{one['n_traces']:,}",
                    "\u2013" if one["delay_ms"] is None else amount(one["delay_ms"], 2),
                    seen_text(one),
                ]
                for one in facts["links"]
            ], address
    assert {"AS confidence", "Its router also has", "Traces", "Ingress", "Exit", "Nights"} <= kinds
    assert placed == {CITY, "Sydney"}


def test_it_opens_from_a_table_and_gives_the_focus_back(page, lab):
    _, folder = lab
    page.goto((folder / "as" / "64496.html").as_uri() + "#find=198.18")
    first = page.locator("#ingresses tbody tr a.addr").first
    address = first.inner_text()
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel[open] dl")
    assert page.url.endswith(f"#find=198.18&router={address}")
    assert page.inner_text("#panel-title") == address
    page.locator(".panel .links a.addr").first.click()  # to the panel of a neighbour
    page.wait_for_function(f"document.getElementById('panel-title').textContent !== '{address}'")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.querySelector('.panel').open")
    assert page.url.endswith("#find=198.18")
    assert page.evaluate("document.activeElement.textContent") == address
    assert page.locator("#ingresses tr.on").count() == 0  # the row was not selected


def test_what_is_drawn_opens_it_too(page, lab):
    _, folder = lab
    page.goto((folder / "as" / "64496.html").as_uri())
    text = page.locator(".flow .ways text[data-router]").first
    address = text.get_attribute("data-router")
    text.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel[open] dl")
    assert page.inner_text("#panel-title") == address


def test_every_address_of_pages_leads_there(page, lab):
    """Of tables and texts of pages of ASes, of the map, of changes; code and headings left out."""
    _, folder = lab
    pages = ["as/64496.html", "internet.html", "changes.html"]
    for name in pages:
        page.goto((folder / name).as_uri())
        left = page.evaluate(
            """() => {
              const found = [];
              const main = document.querySelector("main");
              const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
              while (texts.nextNode()) {
                const { data, parentElement } = texts.currentNode;
                const is_address = /\\b\\d+\\.\\d+\\.\\d+\\.\\d+\\b/.test(data);
                if (is_address && !parentElement.closest("a, svg, code, h1")) found.push(data);
              }
              return found;
            }"""
        )
        assert left == [], name
        assert page.locator("main a.addr").count() > 1, name
        address = page.locator("main a.addr").first.get_attribute("data-router")
        opened(page, (folder / name).as_uri() + f"#router={address}")


def test_the_search_of_the_index_ends_there(page, lab):
    store, folder = lab
    with open_snapshot(store, NIGHT) as snapshot:
        address = node_texts(snapshot, np.array([0]), np.array([5])).to_pylist()[0]
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    page.fill("#find", address)
    page.wait_for_selector(".hits a.addr")
    page.press("#find", "Enter")
    page.wait_for_selector(".panel[open] dl")
    assert page.inner_text("#panel-title") == address
    assert f"q={address}&" in page.url
    assert page.url.endswith(f"router={address}")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.querySelector('.panel').open")
    assert page.evaluate("document.activeElement.id") == "find"


def test_an_address_that_no_router_has_says_so(page, lab):
    _, folder = lab
    opened(page, (folder / "as" / "64496.html").as_uri() + "#router=203.0.113.9")
    assert page.inner_text(".panel .about").startswith("No AS of this report has 203.0.113.9")
    assert page.locator(".panel a").get_attribute("href").endswith("index.html#q=203.0.113.9%2F24")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_it_is_accessible_and_fits(browser, lab, size, scheme):
    _, folder = lab
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        opened(page, (folder / "as" / "64496.html").as_uri() + "#router=198.18.4.57")
        assert findings(page) == []
        box = page.locator(".panel").bounding_box()
        assert box["width"] == (600 if size is DESK else 390)
        assert page.evaluate("document.querySelector('.panel').scrollWidth") <= box["width"]


def test_hostile_texts_stay_texts(page, tmp_path):
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: []},
        {10: 2, 20: 1},
        [(10, 0, [20], 7, 0, False, [HOSTILE])],
        names={10: HOSTILE},
        addrs={10: ["192.0.2.1", "192.0.2.2"], 20: ["2001:db8::1"]},
        manifest={"inputs": [{"path": "a.warts", "format": "warts", "status": "ok"}]},
        borders=[(10, 20)],
    )
    addrs = parse_addrs(["192.0.2.1"])
    snapshot.of_hosts = HostNames(addrs, np.array([HOSTILE], object))
    started = time.time()
    path = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=started
    ).path
    opened(page, (path / "as" / "10.html").as_uri() + "#router=192.0.2.1")
    assert page.locator(".panel img").count() == 0
    said = dict(shown(page)["lines"])
    assert said["Host name of 192.0.2.1"] == HOSTILE
    assert page.inner_text(".panel .of a") == f"AS10 {HOSTILE}"
    assert [row[0] for row in shown(page)["links"]] == ["192.0.2.2", "2001:db8::1"]
    page.click(".panel .links tr:last-child a.addr")
    page.wait_for_function("document.querySelector('.panel .of a')?.textContent === 'AS20'")
