"""A report never replaces or removes anyone's files, whatever ``--out`` is given."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flows.nightly import nightly
from pipeline.cli import main
from pipeline.errors import UsageError
from pipeline.stages import places
from pipeline.stages.places import check_link
from tests.unit.pipeline.store.snapshots import write

LAB = Path(__file__).parents[4] / "data" / "samples" / "lab"
TRACES = "h1.icmp-paris.warts.gz"
IP2AS = str(LAB / "lab.pfx2as")


def content(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder: bytes of files, where links lead."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder to work in: ``data/lab`` has traces, ``data/store`` the snapshots a and store."""
    monkeypatch.chdir(tmp_path)
    lab = tmp_path / "data" / "lab"
    lab.mkdir(parents=True)
    for name in (TRACES, "as_names.json", "lab.pfx2as"):
        shutil.copy(LAB / name, lab)
    given = [{"path": f"data/lab/{TRACES}", "n_rejected": 0, "status": "ok"}]
    for name in ("store", "a"):
        write(tmp_path / "data" / "store", name, inputs=given)
    return tmp_path


def refused(words: list[str], capsys) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()
    lines = [line for line in said if line != "Loading the program"]  # as a busy machine says
    assert len(lines) == 1, said
    return lines[0]


RUNS = {
    "out holds an input folder": ("data/lab", "elsewhere", "data", "lab"),
    "out holds it, default name": ("data/lab", "elsewhere", "data", None),
    "out holds an input file": (f"data/lab/{TRACES}", "elsewhere", "data/lab", "x"),
    "out is an input": ("data/lab", "elsewhere", "data/lab", "x"),
    "out lies in an input": ("data/lab", "elsewhere", "data/lab/reports", "x"),
    "out is an input by a link": ("data/lab", "elsewhere", "link", "x"),
    "out holds the store": ("data/lab", "data/store", "data", "store"),
    "out is the store": ("data/lab", "data/store", "data/store", "versions"),
    "out lies in the store": ("data/lab", "data/store", "data/store/reports", "x"),
    "out holds a prefix table": (str(LAB), "elsewhere", "data/lab", "x"),
    "a folder of somebody else's": ("data/lab", "elsewhere", "home", "photos"),
    "a link in the report's place": ("data/lab", "elsewhere", "home", "linked"),
}


@pytest.mark.parametrize(("inputs", "store", "out", "name"), RUNS.values(), ids=RUNS)
def test_run_that_would_replace_anything_else_is_refused(here, capsys, inputs, store, out, name):
    (here / "link").symlink_to(here / "data" / "lab")
    (here / "home" / "photos").mkdir(parents=True)
    (here / "home" / "photos" / "cat.jpg").write_bytes(b"cat")
    (here / "home" / "linked").symlink_to(here / "data" / "lab")
    before = content(here)
    named = ["--snapshot", name] if name else []
    words = ["run", inputs, "--store", store, "--out", out, "--ip2as", "data/lab/lab.pfx2as"]
    line = refused([*words, *named], capsys)
    assert "--out" in line
    assert content(here) == before

    state = nightly.fn(
        inputs=[inputs], store=store, out=out, snapshot=name, ip2as=["data/lab/lab.pfx2as"]
    )
    assert state.is_failed()
    assert f"hopscope: {state.message}" == line
    assert content(here) == before


@pytest.mark.parametrize("out", ["data", "data/store", "data/store/versions", "data/lab", "home"])
def test_analyze_that_would_replace_anything_else_is_refused(here, capsys, out):
    (here / "home" / "a").mkdir(parents=True)
    (here / "home" / "a" / "report.json").write_text('{"title": "of another program"}')
    before = content(here)
    line = refused(["analyze", "--store", "data/store", "--out", out, "--snapshot", "a"], capsys)
    assert "--out" in line
    assert content(here) == before


@pytest.mark.parametrize(
    "place", ["data/store/snapshots/a.json", "data/store/.running/x", "link/x"]
)
@pytest.mark.parametrize(
    "words",
    [
        ["export", "a", "--asn", "10", "--store", "data/store", "--format", "csv"],
        ["generate", "ba", "--routers", "50"],
        ["search", "components", "edges.txt"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_in_a_store_is_refused(here, capsys, words, place):
    (here / "edges.txt").write_text("0 1\n1 2\n")
    (here / "link").symlink_to(here / "data" / "store" / "versions")
    before = content(here)
    line = refused([*words, "--out", place], capsys)
    assert f"--out {place}: lies in " in line
    assert f" of the store {here / 'data' / 'store'}, " in line
    assert content(here) == before


@pytest.mark.parametrize("place", ["snapshots/a.csv", "data/store/a.csv", "data/store/mine/a.csv"])
def test_a_file_elsewhere_is_written(here, capsys, place):
    Path(place).parent.mkdir(exist_ok=True)
    with pytest.raises(SystemExit) as ended:
        main(["export", "a", "--asn", "10", "--store", "data/store", "--out", place])
    assert ended.value.code == 0
    assert (here / place).stat().st_size
    capsys.readouterr()


def test_an_input_that_is_gone_does_not_block_a_later_run(here, capsys):
    shutil.rmtree(here / "data" / "lab")
    words = ["analyze", "--store", "data/store", "--out", "data/lab", "--snapshot", "a"]
    assert "AS7 is not in" in refused([*words, "--asn", "7"], capsys)  # got past its places


def test_inputs_are_known_from_any_folder_in_which_a_later_run_starts(here, capsys, monkeypatch):
    given = [{"path": f"data/lab/{TRACES}", "n_rejected": 0, "status": "ok"}]
    write(here / "data" / "store", "b", inputs=given, options={"ran_in": str(here)})
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    words = ["analyze", "--store", "../data/store", "--snapshot", "b", "--out", "../data/lab"]
    before = content(here)
    assert "holds the input" in refused(words, capsys)
    assert content(here) == before


def test_an_out_that_cannot_be_written_is_refused_before_anything_is_done(
    here, capsys, monkeypatch
):
    """Whether it exists or is yet to be made; os.access knows read-only disks too."""
    (here / "closed").mkdir()
    before = content(here)
    access = places.os.access
    closed = lambda path, mode: Path(path) != here / "closed" and access(path, mode)  # noqa: E731
    monkeypatch.setattr(places.os, "access", closed)
    for out in ("closed", "closed/reports"):
        said = f"--out {out}: {here / 'closed'} cannot be written; give a folder that can"
        store = ["--store", "data/store", "--out", out]
        assert said in refused(["analyze", *store, "--snapshot", "a"], capsys)
        assert said in refused(["run", "data/lab", "--ip2as", IP2AS, *store], capsys)
        assert said in refused(["compare", "a", "store", *store], capsys)
    assert content(here) == before


def test_an_out_that_is_or_lies_below_a_file_is_refused_before_anything_is_done(here, capsys):
    (here / "file").write_text("somebody's")
    before = content(here)
    for out in ("file", "file/reports/deep"):
        reason = "is not a folder; give one, or a path where one can be created"
        said = f"--out {out}: {here / 'file'} {reason}"
        store = ["--store", "data/store", "--out", out]
        assert said in refused(["analyze", *store, "--snapshot", "a"], capsys)
        assert said in refused(["run", "data/lab", "--ip2as", IP2AS, *store], capsys)
        assert said in refused(["compare", "a", "store", *store], capsys)
    assert content(here) == before


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://x", "--scheduler 'ftp://x': give tcp://HOST:PORT"),
        ("tls://127.0.0.1:1", "--scheduler tls://127.0.0.1:1: give --tls-ca and --tls-cert"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_before_anything_is_done(here, capsys, address, said):
    before = content(here)
    options = ["--store", "data/store", "--out", "reports", "--scheduler", address]
    assert said in refused(["run", "data/lab", "--ip2as", IP2AS, *options], capsys)
    assert said in refused(["analyze", *options, "--snapshot", "a"], capsys)
    assert content(here) == before


@pytest.mark.parametrize("name", ["index.html", "hopscope.prom"])
def test_a_report_does_not_take_the_place_of_a_file_of_all_nights(here, capsys, name):
    write(here / "data" / "store", name)
    before = content(here)
    said = f"reports/{name}: is a file of all nights"
    options = ["--store", "data/store", "--out", "reports"]
    assert said in refused(["analyze", *options, "--snapshot", name], capsys)
    run = ["run", "data/lab", "--ip2as", IP2AS, *options, "--snapshot", name]
    assert said in refused(run, capsys)
    assert said in refused(["compare", "a", name, *options], capsys)
    assert content(here) == before


@pytest.mark.parametrize("place", ["link", "link/below"])
def test_a_link_to_nothing_is_refused_before_anything_is_made(place, tmp_path, capsys):
    (tmp_path / "link").symlink_to("nowhere")
    out = tmp_path / place
    for words in (
        ["generate", "ba", "--routers", "9", "--out", f"{out}.brite" if "/" in place else out],
        ["generate", "internet", "--traces", "300", "--ases", "12", "--out", out],
    ):
        with pytest.raises(SystemExit):
            main([str(word) for word in words])
        assert "link to nowhere, which does not exist" in capsys.readouterr().err
    with pytest.raises(UsageError, match="is a link to nowhere"):
        check_link(out)
