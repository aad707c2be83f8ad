import ast
import json

import pytest

from benchmarks.bench_transport_faults import table
from benchmarks.lib.record import REPOSITORY
from benchmarks.transport.cases import CASES
from benchmarks.transport.switches import _OFF, CODE, n_lines


def test_each_case_is_of_a_mechanism_that_can_be_switched_off():
    mechanisms = {case.mechanism for case in CASES.values()}
    assert mechanisms - {"in this process"} <= _OFF.keys()  # that one is chosen by the case
    assert mechanisms <= CODE.keys()


@pytest.mark.parametrize("mechanism", [name for name, files in CODE.items() if files])
def test_the_code_of_each_mechanism_is_where_the_list_says(mechanism):
    for name, parts in CODE[mechanism].items():
        assert (REPOSITORY / name).exists(), name
        if parts:
            tree = ast.parse((REPOSITORY / name).read_text())
            defined = {getattr(node, "name", None) for node in ast.walk(tree)}
            assert set(parts) <= defined
    assert n_lines(mechanism) > 0


def test_a_table_has_a_line_a_fault_and_says_what_hangs(tmp_path):
    row = {"mechanism": "watchdog", "fault": "a task hangs", "wall_s": 20.0, "n_lost": 1}
    rows = [row | {"way": "Dask", "ends": 0}]
    rows.append(row | {"way": "with", "ends": 1, "wall_s": 7.5, "n_lost": 0, "n_begun_again": 1})
    (tmp_path / "found.json").write_text(json.dumps({"rows": rows}))
    assert table([tmp_path / "found.json"]).splitlines() == [
        "| mechanism | fault | Dask | with |",
        "|---|---|---|---|",
        "| watchdog | a task hangs | hangs, 1 lost | 7.5 s, 1 begun again |",
    ]
