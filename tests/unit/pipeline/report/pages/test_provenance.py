"""Commands and basis on pages: what was measured, quoted for a shell, hostile texts as text."""

from __future__ import annotations

import json
import shlex

import pytest

from pipeline.report.pages.provenance import Provenance


def run(metrics, asns=(), max_searches=None) -> dict:
    return {"metrics": list(metrics), "asns": list(asns), "max_searches": max_searches}


def test_an_as_is_measured_again_with_the_metrics_of_its_runs():
    found = Provenance(
        runs=[run(["hops"]), run(["radius", "diameter"], [7]), run(["hops"], [8])],
        metrics=["hops", "diameter", "radius"],
    )
    assert found.measured_with(7) == " --metrics hops,diameter,radius"
    assert found.measured_with(8) == found.measured_with(9) == ""  # hops are the default


def test_a_limit_of_searches_is_given_only_where_no_run_went_without():
    limited = [run(["hops", "diameter"], max_searches=5), run(["radius"], [7], max_searches=9)]
    assert Provenance(runs=limited).measured_with(7).endswith(" --max-searches 9")
    assert Provenance(runs=limited).measured_with(8) == " --metrics hops,diameter --max-searches 5"
    assert "max" not in Provenance(runs=[*limited, run(["hops"])]).measured_with(7)
    old = [{"metrics": ["hops", "diameter"], "asns": []}]  # of a report from before it was kept
    assert Provenance(runs=old).measured_with(7) == " --metrics hops,diameter"


def test_without_runs_the_metrics_of_the_report_are_taken():
    assert Provenance(metrics=("weighted_diameter",)).measured_with(7) == (
        " --metrics weighted_diameter"
    )
    assert Provenance().measured_with(7) == ""


@pytest.mark.parametrize("path", ["/a b/it's", "/$(touch x);`y`", "/\u05d0 é", "/-x"])
def test_folders_are_quoted_for_a_shell(path):
    night = Provenance(options={"store": path, "out": "/out"}).of_night()
    assert shlex.split(f"{night['store']} {night['out']}") == [path, "/out"]


def test_a_folder_that_no_page_can_show_is_left_out_and_a_relative_one_made_absolute(tmp_path):
    night = Provenance(options={"store": "/a\u202eb\n", "out": "reports"}).of_night()
    assert night["store"] == ""
    assert shlex.split(night["out"])[0].endswith("/reports")
    assert Provenance().of_night() == {"store": "", "out": "", "made": ""}


def test_the_basis_names_versions_and_the_first_inputs():
    inputs = [{"path": f"\u202e<b>{i}", "sha256": f"{i:064x}"} for i in range(5)]
    night = Provenance(versions={"hopscope": "1.2", "numpy": "3"}, inputs=inputs).of_night()
    assert night["made"].startswith("Made by hopscope 1.2, numpy 3. From 5 files: \ufffd<b>0 (")
    assert night["made"].endswith(" and 2 more.")
    tables = [{"path": f"{i}.txt", "holds": "table"} for i in range(2)]
    both = Provenance(inputs=inputs + tables).of_night()["made"]
    assert both.startswith("From 5 files and 2 tables: ")
    assert both.endswith(" and 4 more.")
    one = Provenance(inputs=[{"path": "a", "sha256": None}]).of_night()["made"]
    assert one == "From 1 file: a (sha256 unknown)."
    assert json.dumps(night)
