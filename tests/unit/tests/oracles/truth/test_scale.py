"""Time, memory and figures of one network, as they are recorded."""

from __future__ import annotations

import json

from pipeline.generate.networks.plan import make_plan
from pipeline.generate.networks.writing import make_network
from tests.oracles.truth.scale import main


def test_a_network_is_ingested_and_judged(tmp_path):
    plan = make_plan("plain", 3, ("n_regional=4", "n_stub=9", "n_vantage_points=3"))
    make_network(plan, tmp_path / "plain-3")
    main([str(tmp_path / "plain-3"), "--ways", "inferred-routers", "--into", str(tmp_path)])
    found = json.loads((tmp_path / "scale.json").read_text())
    ingested, judged = found["rows"]
    assert ingested["peak_gib"] > 0
    assert 0.5 < judged["P"] <= 1
    assert found["n_traces"] > 30
    assert found["n_ases"] == 27
    main(
        [
            str(tmp_path / "plain-3"),
            "--ways",
            "elected",
            "--without",
            "transit",
            "--into",
            str(tmp_path),
        ]
    )
    found = json.loads((tmp_path / "scale_rules.json").read_text())
    assert [row.get("without") for row in found["rows"]] == [None, "transit"]
