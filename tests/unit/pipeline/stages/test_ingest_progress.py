"""What ingest says while it works: that it compiles, where it does."""

from __future__ import annotations

import pytest

from kernels.compiled import has_compiled
from pipeline.config import IngestConfig
from pipeline.model.progress import Progress
from pipeline.stages import ingest as stage
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
ELECTION = "pipeline.infer.owners.election"


def details(tmp_path, monkeypatch, compiled, **options) -> dict[str, str]:
    """First detail of each step, where ``compiled`` says of which packages there is code."""
    monkeypatch.setattr(stage, "has_compiled", compiled)
    given = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",), **options}
    config = IngestConfig(inputs=(LAB / "h0.udp-paris.json.gz",), store=tmp_path, **given)
    told: list[Progress] = []
    stage.ingest(config, told.append)
    return {one.stage: one.detail for one in reversed(told)}


def test_both_steps_that_compile_say_so(tmp_path, monkeypatch):
    said = details(tmp_path, monkeypatch, lambda package: False)
    assert said["read"] == "compiling once, about a minute"
    assert said["infer"] == "borders elected, compiling once, about a minute"


@pytest.mark.parametrize("borders", ["elected", "prefix"])
def test_code_of_other_options_is_not_waited_for(borders, tmp_path, monkeypatch):
    def compiled(package: str) -> bool:
        return package != ELECTION

    said = details(tmp_path, monkeypatch, compiled, borders=borders)
    assert ("compiling" in said["infer"]) == (borders == "elected")
    assert said["read"] == ""


def test_nodes_in_no_as_are_counted_neither_while_it_works_nor_at_the_end(tmp_path):
    prefixes = tmp_path / "one.pfx2as"
    prefixes.write_text("198.18.0.0\t18\t64500\n")
    given = {"ip2as": (prefixes,), "allow_special": ("198.18.0.0/15",), "borders": "prefix"}
    told: list[Progress] = []
    inputs = (LAB / "h0.udp-paris.json.gz",)
    summary = stage.ingest(IngestConfig(inputs=inputs, store=tmp_path / "s", **given), told.append)
    (said,) = [one.detail for one in told if one.stage == "infer" and one.done == one.total]
    assert said == f"{summary.n_nodes} interfaces"
    assert open_snapshot(tmp_path / "s").manifest["n_unmapped"] > 0


@pytest.mark.parametrize("borders", ["elected", "prefix"])
def test_the_second_run_says_nothing(borders, tmp_path, monkeypatch):
    details(tmp_path, monkeypatch, has_compiled, borders=borders)
    said = details(tmp_path, monkeypatch, has_compiled, borders=borders)
    assert (said["read"], said["infer"]) == (
        "",
        "borders elected" if borders == "elected" else "borders by prefix",
    )
