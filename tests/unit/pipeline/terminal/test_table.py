"""Tables on a narrow terminal: what gives way, and that a name to be typed stays whole."""

from __future__ import annotations

import pytest

from pipeline.terminal.table import print_table

HEADER = ("asn", "name", "nodes", "links")


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")


def test_a_long_text_is_cut_before_figures_are_left_out(capsys, narrow):
    print_table("A table", HEADER, [(1, "x" * 40, 1234, 7)])
    out = capsys.readouterr().out
    assert "…" in out
    assert "1,234" in out
    assert "Not shown" not in out


def test_figures_stand_on_the_right_and_texts_on_the_left(capsys):
    header = ("address", "AS", "traces", "diameter", "share", "role")
    rows = [
        ("192.0.2.1", "AS1", 12345, "9\u201390", 0.5, "ingress"),
        ("2001:db8::1", "AS22", 7, "3", None, None),
    ]
    print_table("A table", header, rows)
    shown = [
        line.split("\u2502")[1:-1]
        for line in capsys.readouterr().out.splitlines()
        if "\u2502" in line
    ]
    assert shown[0] == [" 192.0.2.1  ", " AS1 ", " 12,345", "     9\u201390", "  0.50", " ingress"]
    assert shown[1] == [" 2001:db8::1", " AS22", "      7", "        3", "     -", " -      "]


def test_a_text_that_no_row_has_leaves_its_room_to_figures(capsys, narrow):
    header = (*HEADER, "ends")
    print_table("A table", header, [(1, None, 12345, 678, 9), (23, None, 4, 5, 6)])
    out = capsys.readouterr().out
    assert "name" not in out
    assert "Not shown" not in out
    shown = [line.split("\u2502")[1:-1] for line in out.splitlines() if line[:1] == "\u2502"]
    assert shown == [["   1", " 12,345", "   678", "    9"], ["  23", "      4", "     5", "    6"]]


def test_a_whole_text_stands_in_full_and_columns_give_way(capsys, narrow):
    print_table("A table", HEADER, [(1, "2026-11-21-later", 1234, 7)], whole_text=True)
    out = capsys.readouterr().out
    assert "2026-11-21-later" in out
    assert "Not shown because the terminal is too narrow: nodes, links" in out
    assert all(len(line) <= 30 for line in out.splitlines() if "\u2502" in line)


def test_a_whole_text_wider_than_the_terminal_is_folded(capsys, narrow):
    name = "".join(chr(ord("a") + i % 26) for i in range(60))
    print_table("A table", HEADER, [(1, name, 1234, 7)], whole_text=True)
    rows = [
        line.split("\u2502")[2]
        for line in capsys.readouterr().out.splitlines()
        if line[:1] == "\u2502"
    ]
    assert "".join(row.strip() for row in rows) == name


def test_one_very_long_name_does_not_hide_the_figures_of_all(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    header = ("ingested (UTC)", "snapshot", "ASes", "nodes", "links")
    rows = [("2026-11-27 04:09", "n" * 100, 1, 2, 3), ("2026-11-27 04:10", "night", 4, 5, 6)]
    print_table("A table", header, rows, whole_text=True)
    out = capsys.readouterr().out
    assert "Not shown" not in out
    assert out.count("n") >= 100


def test_very_small_and_large_weights_stand_with_other_figures_on_the_right(capsys):
    rows = [(64496, None, 1e-9), (64497, None, 1e12), (64498, None, "1e-9\u20131.76e-8")]
    print_table("Largest ASes", ("asn", "name", "weighted diameter"), rows)
    lines = capsys.readouterr().out.splitlines()
    for text in ("1e-9", "1e+12", "1e-9\u20131.76e-8"):
        assert any(line.removesuffix("\u2502").endswith(text) for line in lines)
