from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import runpy
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.lib.charts import WIDTH, Line, Span, line_chart, number, span_chart
from benchmarks.lib.record import RESULTS
from benchmarks.pages import plot_searches
from benchmarks.pages.searches_results import load
from tests.real_data import REPOSITORY

DOCS = REPOSITORY / "docs"
PARTS = (*plot_searches.PICTURES, "figures")
PAGE = "before\n" + "between\n".join(
    f"<!-- made: {part} -->\nold\n<!-- end: {part} -->\n" for part in PARTS
)
PAGE += "after\n"
CPU = {"cpu": "Some CPU", "cores": 2, "gpus": []}
GPU = {"cpu": "Other CPU", "cores": 16, "gpus": ["NVIDIA H200, 580.1", "NVIDIA H200, 580.1"]}


def timed(graph: str, by: str, what: str, n_sources: int, median_ms: float, **more) -> dict:
    row = {"graph": graph, "n_nodes": int(graph.split()[-1]), "device": "cpu", "by": by}
    row |= {"what": what, "n_sources": n_sources, "median_ms": median_ms, "repeats": 5}
    if by == "hopscope":
        row |= {"least_bytes": 1_000_000, "most_bytes": 30_000_000}
    return row | more


def result(folder: Path, name: str, rows: list[dict], more: Sequence[dict] = (), **about) -> None:
    """A file of results as bench_searches.py writes it."""
    devices = dict.fromkeys(row["device"] for row in rows)
    first = [{"what": "copy", "device": device, "gb_per_s": 20.0} for device in devices]
    first += [{"what": "compile", "device": device, "wall_s": 0.25} for device in devices]
    run = {"subject": name, "date": "2026-11-21T08:00:00+00:00", "command": "python it"}
    run |= {"commit": "abc", "machine": CPU, "rows": [*more, *first, *rows]}
    (folder / f"{name}.json").write_text(json.dumps(run | about))


@pytest.fixture
def made(tmp_path):
    """Results of a machine without and one with a GPU, and a page."""
    rows = [
        timed(f"attachment {n}", by, what, k, n / 1000 * k)
        for n in (10_000, 1_000_000)
        for by, what, k in (
            ("hopscope", "bfs", 1),
            ("hopscope", "msbfs", 1),
            ("hopscope", "msbfs", 100),
            ("hopscope", "msbfs levels", 100),
            ("SciPy", "bfs", 1),
            ("SciPy", "msbfs levels", 100),
        )
    ]
    rows[-1]["n_timed"] = 17
    rows.append(timed("cut grid 1000", "hopscope", "bfs", 1, 3.0))
    shard = timed("shard of 20", "hopscope", "msbfs_shard", 99, 7.5, n_nodes=12_345)
    rows.append(shard | {"graph": "shard of 20 graphs"})
    absent = timed("attachment 10000", "igraph", "bfs", 1, 0) | {
        "note": "not installed (no igraph)"
    }
    del absent["median_ms"]
    result(tmp_path, "searches_a", [*rows, absent])
    ready = {"what": "compile", "device": "cpu", "wall_s": 9.0}  # of a host not measured
    on_gpu = [row | {"device": "gpu"} for row in rows]
    result(tmp_path, "searches_b", on_gpu, machine=GPU, more=[ready])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "benchmarks.md").write_text(PAGE)
    return tmp_path


def plot(monkeypatch, folder: Path) -> str:
    words = ["plot_searches.py", "--results", str(folder), "--docs", str(folder / "docs")]
    monkeypatch.setattr(sys, "argv", words)
    plot_searches.main()
    return (folder / "docs" / "benchmarks.md").read_text()


def check_svg(text: str) -> None:
    """Well-formed, nothing but finite numbers, all of it within the drawing."""
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "nan" not in text
    assert "inf" not in text.replace("infinite", "")
    height = float(root.get("height", ""))
    for element in root.iter():
        x = float(element.get("x", element.get("cx", 0)))
        y = float(element.get("y", element.get("cy", 0)))
        assert 0 <= x <= WIDTH
        assert 0 <= y <= height


def test_every_plot_is_drawn_for_the_machines_that_are_there(monkeypatch, made, capsys):
    plot(monkeypatch, made)
    images = sorted((made / "docs" / "images").glob("*.svg"))
    assert [image.stem for image in images] == [
        "searches_bounds_cpu",
        "searches_bounds_gpu",
        "searches_long",
        "searches_many",
        "searches_single",
        "searches_sources_cpu",
        "searches_sources_gpu",
    ]
    assert [Path(line) for line in sorted(capsys.readouterr().out.split())] == images
    for image in images:
        check_svg(image.read_text())
    many = (made / "docs" / "images" / "searches_many.svg").read_text()
    for name in ("hopscope, hop counts, H200", "hopscope, levels, 2 cores", "SciPy, 2 cores"):
        assert name in many


def test_the_page_has_the_medians_and_who_is_not_there(monkeypatch, made):
    page = plot(monkeypatch, made)
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert page.count("between\n") == len(PARTS) - 1
    picture = "](images/searches_bounds_gpu.svg)"
    assert picture in page.partition("<!-- made: bounds -->")[2].partition("<!-- end: bounds")[0]
    other, own = page.split("### 2 cores, Some CPU")
    assert "### NVIDIA H200" in other  # GPUs first
    assert "| 100 ingresses, levels | SciPy | 1,000 | 100,000\\* |  |" in own
    assert f"| | *next best / hopscope* | {'*1* | ' * 2} |" in own  # SciPy's times are ours
    assert "| one search, levels | igraph | not installed |  |  |" in own
    assert "**7.5 ms**" in own
    assert "Measured 2026-11-21. Copy within memory: 20 GB/s" in other


def test_drawing_again_changes_nothing(monkeypatch, made):
    first = plot(monkeypatch, made)
    images = {path: path.read_text() for path in (made / "docs" / "images").iterdir()}
    assert plot(monkeypatch, made) == first
    assert {path: path.read_text() for path in images} == images


def test_of_two_results_of_one_machine_the_newer_counts(monkeypatch, made):
    newer = [timed("attachment 10000", "hopscope", "bfs", 1, 4.25)]
    result(made, "searches_0", newer, date="2026-11-22T08:00:00+00:00", cores_of_others=0.5)
    page = plot(monkeypatch, made)
    own = page.split("### 2 cores, Some CPU")[1]
    assert "| one search, levels | hopscope | 4.25 |" in own
    assert "Measured 2026-11-21 to 2026-11-22; other programs kept at most 0.5 cores busy." in own


def test_machines_of_one_short_name_keep_their_long_ones(made):
    result(
        made,
        "searches_c",
        [timed("attachment 10000", "hopscope", "bfs", 1, 1.0)],
        machine={**CPU, "cpu": "Third"},
    )
    places = {row["place"] for row in load(made)}
    assert places == {"2 cores, Some CPU", "2 cores, Third", "H200"}


def test_a_page_without_marks_is_refused_and_kept(monkeypatch, made):
    page = made / "docs" / "benchmarks.md"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="lacks <!-- made: many -->"):
        plot(monkeypatch, made)
    assert page.read_text() == "no marks"


def test_no_results_are_no_plots(monkeypatch, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "benchmarks.md").write_text(PAGE)
    assert "old" not in plot(monkeypatch, tmp_path)
    assert not list((tmp_path / "docs" / "images").iterdir())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6.686e-05, "0.0000669"),
        (0.0123, "0.0123"),
        (5.0, "5"),
        (99.96, "100"),
        (104.6, "105"),
        (12_345.0, "12,300"),
        (6_800_000, "6.8 M"),
    ],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert number(value) == text


def test_charts_take_one_point_and_names_with_signs():
    check_svg(line_chart("a < b & c", "x", "ms", [Line("<&>", [(5, 5)], 0)]))
    check_svg(span_chart('"', "ms", [("one", [Span("alone", 3.0, is_ours=True)])]))
    check_svg(span_chart("", "ms", [("one", [Span("between", 3.0, 1.0, 1e6)])]))


def test_docs_show_what_the_committed_results_say(monkeypatch, tmp_path):
    """Else: python benchmarks/pages/plot_searches.py."""
    page = (DOCS / "benchmarks.md").read_text()
    (tmp_path / "benchmarks.md").write_text(page)
    words = ["plot_searches.py", "--results", str(RESULTS), "--docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    plot_searches.main()
    assert (tmp_path / "benchmarks.md").read_text() == page
    drawn = {path.name: path.read_text() for path in (tmp_path / "images").iterdir()}
    kept = {path.name: path.read_text() for path in (DOCS / "images").glob("searches_*.svg")}
    assert drawn == kept
    for text in drawn.values():
        check_svg(text)


def test_every_picture_and_file_that_the_page_names_is_there():
    page = (DOCS / "benchmarks.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", page)
    assert links
    for link in links:
        assert (DOCS / link).exists(), link
    for name in re.findall(r"`(benchmarks/[\w/.]+)`", page):
        assert (REPOSITORY / name).exists(), name


@pytest.mark.parametrize(
    "command",
    [
        line
        for block in re.findall(
            r"^```sh\n(.*?)^```$",
            (DOCS / "benchmarks.md").read_text(),
            re.MULTILINE | re.DOTALL,
        )
        for line in block.splitlines()
        if line
    ],
)
def test_every_command_of_the_page_is_understood(command):
    """make: the target is there; programs: they know these options."""
    words = shlex.split(command)
    if words[0] == "make":
        said = output_of("make", "-n", *words[1:])
    else:
        assert words[0] == "python"
        said = help_of(words[2] if words[1] == "-m" else words[1])
    for option in re.findall(r"--[a-z-]+", command):
        assert option in said
    for path in words:
        assert not path.startswith("tests/") or (REPOSITORY / path).exists(), path


@functools.cache
def help_of(program: str) -> str:
    """That of a file, which runs in this process, or of a module."""
    if not program.endswith(".py"):
        return output_of(sys.executable, "-m", program, "--help")
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()) as printed,
    ):
        patch.setattr(sys, "path", [*sys.path])
        patch.setattr(sys, "argv", [program, "--help"])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(REPOSITORY / program), run_name="__main__")
    assert ended.value.code == 0
    return printed.getvalue()


def output_of(*words: str) -> str:
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_program_is_named_on_the_page():
    page = (DOCS / "benchmarks.md").read_text()
    programs = sorted((REPOSITORY / "benchmarks").glob("bench_*.py"))
    assert programs
    assert not [path.name for path in programs if f"benchmarks/{path.name}" not in page]
