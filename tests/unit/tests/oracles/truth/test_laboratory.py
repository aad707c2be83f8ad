"""Laboratories as folders and archives, and the tables made of them."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from pipeline.errors import FormatError
from tests.oracles.truth import open_lab, unpacked
from tests.oracles.truth.command import main

# AS 1: p; AS 2: q; AS 3: s, a member of an exchange point. A host hangs on q.
TRUTH = {
    "asn_of": {"p": 1, "q": 2, "s": 3},
    "loopback": {"p": "20.1.0.99"},
    "links": [
        {"u": "p", "v": "q", "u_addr": "20.1.0.1", "v_addr": "20.1.0.2"},
        {"u": "q", "v": "s", "u_addr": "20.7.0.1", "v_addr": "20.7.0.2"},
    ],
    "hosts": {"h": {"gw": "q", "gw_addr": "20.2.0.1", "addr": "20.2.0.2"}},
    "ixps": [{"members": {"q": "20.7.0.1", "s": "20.7.0.2"}}],
    "plan": {"name": "tiny", "seed": 5},
}
SHOWN = {
    "borders": [["q", 1], ["s", 2]],
    "links": [["p", "q"], ["q", "s"]],
    "addresses": ["20.1.0.1", "20.1.0.2", "20.7.0.2"],
}


def trace(*addrs: str) -> str:
    hops = [
        {"addr": addr, "probe_ttl": ttl, "rtt": 1.0 * ttl, "icmp_type": 11, "icmp_code": 0}
        for ttl, addr in enumerate(addrs, start=1)
    ]
    about = {"type": "trace", "version": "0.1", "method": "icmp-echo-paris", "src": "20.9.9.9"}
    about |= {"dst": "20.3.0.9", "stop_reason": "GAPLIMIT", "start": {"sec": 1, "usec": 0}}
    return json.dumps(about | {"hop_count": len(hops), "attempts": 1, "hops": hops}) + "\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "ground_truth.json").write_text(json.dumps(TRUTH))
    (folder / "lab.pfx2as").write_text("20.1.0.0\t16\t1\n20.2.0.0\t16\t2\n20.7.0.0\t16\t7\n")
    (folder / "h.icmp-paris.json").write_text(trace("20.1.0.1", "20.1.0.2", "20.7.0.2"))
    return folder


@pytest.fixture
def archive(folder):
    path = folder.with_name("tiny.tar.xz")
    with tarfile.open(path, "w:xz") as archive:
        archive.add(folder, "tiny")
    return path


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_laboratory_is_read_packed_or_not(folder, archive, packed):
    folder.with_name("tiny.shown.json").write_text(json.dumps(SHOWN))
    with open_lab(archive if packed else folder) as lab:
        assert lab.describe() == "tiny, seed 5: 3 routers, 3 ASes, 1 exchange point; simulated"
        assert lab.truth.router_of == {
            "20.1.0.1": "p",
            "20.1.0.2": "q",
            "20.1.0.99": "p",
            "20.2.0.1": "q",
            "20.7.0.1": "q",
            "20.7.0.2": "s",
        }
        assert lab.visible.differences(lab.listed) == {}
        assert not lab.targets_are_routers


def test_an_archive_that_would_write_elsewhere_is_refused(tmp_path):
    path = tmp_path / "bad.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        archive.addfile(tarfile.TarInfo("../escaped"), io.BytesIO())
    with pytest.raises(FormatError, match="escaped"), unpacked(path):
        pass
    assert not list(tmp_path.parent.rglob("escaped"))


@pytest.mark.parametrize("name", ["empty", "absent.tar.xz", "text.tar.xz"])
def test_what_is_no_laboratory_is_one_line(tmp_path, capsys, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.tar.xz").write_text("text")
    assert main([str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("ground_truth.json", "{", "not JSON, or cut short after 1 byte: "),
        ("ground_truth.json", "{}", "asn_of is missing; ground_truth.json needs"),
        ("ground_truth.json", '{"links": [], "asn_of": 7}', "asn_of: 7 is not an object"),
        ("lab.pfx2as", "junk\n", "lab.pfx2as: "),
        ("shown.json", "[", "not JSON, or cut short after 1 byte: "),
    ],
)
def test_a_file_of_a_laboratory_that_cannot_be_used_is_one_line(folder, capsys, name, text, says):
    (folder / name).write_text(text)
    assert main([str(folder), "--ways", "prefix"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{folder / name}: ")
    assert says in said.err
    assert said.err.count("\n") == 1


def test_a_page_that_cannot_be_filled_is_one_line(folder, capsys):
    page = folder / "page.md"
    for says in ("No such file", "the page lacks <!-- made: gain -->"):
        assert main([str(folder / "nowhere"), "--table", "gain", "--into", str(page)]) == 2
        assert capsys.readouterr().err.startswith(f"{page}: {says}")
        page.write_text("nothing to fill\n")


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_a_table_has_a_row_for_each_way_and_says_first_what_is_left_out(archive, capsys):
    assert main([str(archive), "--table", "--ways", "prefix,true-aliases"]) == 0
    table, worse, *_ = capsys.readouterr().out.split("\n\n")
    heads, _, prefix, aliases = cells(table)
    assert worse.strip() == "More routers wrong or fewer found with true aliases: nowhere."
    assert heads[2] == "left out: candidates; border routers not visible"
    # Entered by prefix: AS 7 alone, where no router is. Visible: q and s, but p is not.
    row = dict(zip(heads, prefix, strict=True))
    assert row["ingresses right (P)"] == "0.000 (0 of 1)"
    assert row["border routers found (R)"] == "0.000 (0 of 2)"
    assert row["addresses in their AS"] == "0.333 (1 of 3)"
    assert (row["links found"], row["false links"]) == ("2 of 2", "0")
    assert row["alias pairs right"] == "none"
    assert (prefix[1], aliases[0], aliases[1]) == (
        "by prefix alone",
        "...",
        "elected, true aliases",
    )


def test_owners_that_another_program_found_are_judged_alike(archive, tmp_path, capsys):
    owners = tmp_path / "owners"
    owners.mkdir()
    (owners / "tiny.json").write_text(json.dumps({"20.1.0.1": 1, "20.1.0.2": 2, "20.7.0.2": 3}))
    words = [str(archive), "--table", "full", "--ways", "prefix", "--owners", f"other={owners}"]
    assert main(words) == 0
    table, misses, *_ = capsys.readouterr().out.split("\n\n")
    heads, _, *_, row = cells(table)
    lower = "tiny, seed 5 (P 0.000 < 1.000, R 0.000 < 1.000)"
    assert misses == f"Lower than other: {lower}.\n"
    other = dict(zip(heads, row, strict=True))
    assert other["owners"] == "other"
    assert other["ingresses right (P)"].startswith("1.000 ")
    assert other["border routers found (R)"].startswith("1.000 ")


def test_a_page_is_filled_between_its_marks(archive, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made: accuracy -->\nold\n<!-- end: accuracy -->\nafter\n")
    assert main([str(archive), "--ways", "prefix", "--into", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- made: accuracy -->\n| laboratory |")
    assert text.endswith("|\n<!-- end: accuracy -->\nafter\n")


def test_a_list_that_says_otherwise_is_named(folder, capsys):
    shown = SHOWN | {"borders": [["q", 1]]}
    Path(folder, "shown.json").write_text(json.dumps(shown))
    assert main([str(folder), "--ways", "prefix"]) == 0
    assert "tiny: visible entries: 1 differ" in capsys.readouterr().err


def test_files_of_registries_in_a_laboratory_are_used_and_their_gain_is_one_table(folder, capsys):
    (folder / "lab.as-rel.txt").write_text("1|2|-1\n")
    assert main([str(folder), "--table", "gain", "--ways", "prefix,registries,relationships"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| owners | tiny (1) |"
    ways = ["by prefix alone", "elected, registries", "elected, relationships alone"]
    assert [line.split(" | ")[0].lstrip("| ") for line in lines[2:5]] == ways
    with open_lab(folder) as lab:
        assert lab.registries.relationships is not None
        assert lab.registries.organisations is None
