"""The list of 47,000 ASes in a browser: loading, filtering, sorting; beside that of another commit.

Command: python benchmarks/bench_list.py [--against FOLDER] [--rounds N]
FOLDER is a checkout of another commit (`git worktree add`). Both lists are opened in turn, each
time in a new browser context. Writes benchmarks/results/list.json: medians, by the page's clock, of
`load_ms` (from the start of the navigation until the list answers), `filter_ms` and `sort_ms` (from
an entry or a click until the next frame), and of `busy_ms`: all that the page's thread did in the
first seconds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from tests.browser import ARGUMENTS, find_browser

ROOT = Path(__file__).resolve().parents[1]
N_ASES = 47_000
SETTLE_MS = 1500  # after loading, in which what was put off is done

# Run in each checkout with its own modules: only what all of them have is used.
MAKE = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa
from pipeline.report.pages.html import write_pages
from pipeline.report.pages.index_page import COLUMNS, index_script
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
out, n = Path(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(7)
one = MemorySnapshot({1: [(0, 1)]}, {1: 2}, [(1, 0, [2], 1, 0, False)], names={1: "x"})
summary = summarise(one, measured(one))
run = describe_run(one, summary, version="0", written=0.0)
write_pages(summary, run, out, manifest=one.manifest, warnings=[], busy_share={})
columns = {
    "asn": np.arange(1, n + 1),
    "name": pa.array([f"NETWORK-{i * 7919 % n} Some Company of Some Length Ltd" for i in range(n)]),
    "mean_hops": pa.array(rng.random(n) * 9, mask=rng.random(n) < 0.1),
    "n_nodes": rng.zipf(1.8, n).clip(1, 100_000),
    "status": pa.array(["ok"] * n),
}
ases = {c.key: columns.get(c.key, rng.integers(0, 50, n)) for c in COLUMNS}
(out / "ases.js").write_text(index_script(pa.table(ases)))
"""

# Milliseconds until the list has its mark; the mark is set by its script at the end.
WATCH = """new MutationObserver((_, watch) => {
  if (!document.querySelector("#list[data-ready]")) return;
  window.ready = performance.now();
  watch.disconnect();
}).observe(document, {subtree: true, attributes: true, attributeFilter: ["data-ready"]});
window.busy = 0;
new PerformanceObserver(list => list.getEntries().forEach(one => window.busy += one.duration))
  .observe({entryTypes: ["longtask"], buffered: true});"""

TIMED = """([selector, text]) => new Promise(done => {
  const at = document.querySelector(selector), began = performance.now();
  if (text === null) at.click();
  else { at.value = text; at.dispatchEvent(new Event("input")); }
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""

FILTERS = ("4", "network-12", "as777", "company", "")
SORTS = ("asn", "name", "n_nodes", "mean_hops")


def measure(browser, index: Path) -> dict[str, float]:
    """Milliseconds of one visit."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(index.as_uri())
    page.wait_for_function("window.ready")
    page.wait_for_timeout(SETTLE_MS)
    found = {"load_ms": page.evaluate("window.ready"), "busy_ms": page.evaluate("window.busy")}
    filters = [page.evaluate(TIMED, ["#find", text]) for text in FILTERS]
    sorts = [page.evaluate(TIMED, [f"th.{key} button", None]) for key in SORTS]
    context.close()
    return found | {"filter_ms": statistics.median(filters), "sort_ms": statistics.median(sorts)}


def commit_of(folder: Path) -> str:
    command = ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--against", type=Path, help="a checkout of another commit")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    trees = {"this": ROOT} | ({"other": given.against.resolve()} if given.against else {})
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        for name, tree in trees.items():
            out = Path(scratch) / name
            out.mkdir()
            command = [sys.executable, "-c", MAKE, str(out), str(N_ASES)]
            subprocess.run(command, cwd=tree, check=True)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        visits: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
        for i in range(given.rounds + 1):
            for name in trees:
                found = measure(browser, Path(scratch) / name / "index.html")
                if i:  # the first one warms up
                    visits[name].append(found)
        browser.close()
    rows = [
        {
            "list": name,
            "list_commit": commit_of(tree),
            "n_ases": N_ASES,
            "rounds": given.rounds,
            **{
                key: round(statistics.median(visit[key] for visit in visits[name]), 1)
                for key in visits[name][0]
            },
            "load_ms_least": round(min(visit["load_ms"] for visit in visits[name]), 1),
        }
        for name, tree in trees.items()
    ]
    record("list", rows)


if __name__ == "__main__":
    main()
