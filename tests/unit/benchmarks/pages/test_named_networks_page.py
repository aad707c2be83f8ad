"""Tables of the page of named networks, of rows written by hand."""

from __future__ import annotations

from benchmarks.pages.named_networks_page import figures_table, networks_table

SIZES = {"n_ases": 94, "n_routers": 345, "n_links": 1565, "n_traces": 5184}


def row(network, way, right):
    counted = {"right": right, "of": 4, "standard_error": 0.02}
    shares = dict.fromkeys(("ingresses", "borders", "addresses"), counted)
    hops = {"hops": {"right": 1, "of": 4, "standard_error": None}}
    named = {"network": network, "way": way, "digest": "0123456789abcdef"}
    return named | SIZES | {"figures": shares | hops}


def test_a_network_has_its_sizes_and_the_beginning_of_its_digest():
    lines = networks_table([row("harsh", "traces and prefixes", 3)]).splitlines()
    assert lines[2].startswith("| `harsh` | two in five routers")
    assert lines[2].endswith("| 94 | 345 | 1,565 | 5,184 | `0123456789ab` |")


def test_a_method_that_left_out_a_network_has_no_figure_and_no_mean():
    rows = [
        *(row(name, "traces and prefixes", n) for name, n in (("harsh", 3), ("mpls", 4))),
        row("mpls", "another", 2),
    ]
    lines = figures_table(rows).splitlines()
    assert lines[0] == (
        "| network | traces and prefixes, P / R | another, P / R | addresses | hops equal |"
    )
    assert lines[2:] == [
        "| `harsh` | 0.750 ± 0.020 / 0.750 ± 0.020 |  | 0.750 ± 0.020 | 0.250 ± 0.000 |",
        "| `mpls` | 1.000 ± 0.020 / 1.000 ± 0.020 | 0.500 ± 0.020 / 0.500 ± 0.020 "
        "| 1.000 ± 0.020 | 0.250 ± 0.000 |",
        "| mean | 0.875 ± 0.014 / 0.875 ± 0.014 |  | 0.875 ± 0.014 | 0.250 ± 0.000 |",
    ]
