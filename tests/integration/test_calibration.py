"""``doctor --calibrate`` on this machine, and what runs make of it."""

import json
from dataclasses import replace

import pytest

from pipeline.cli import main
from pipeline.schedule.calibrate import file as calibration_file
from pipeline.schedule.calibrate import measure as calibrate
from pipeline.schedule.calibrate.file import load, save
from pipeline.schedule.plan.costs import DEFAULTS, Cost
from pipeline.schedule.run import measure
from tests.integration.measured import config_for, expected, make_snapshot, measured

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "calibration.json"
    monkeypatch.setenv("HOPSCOPE_CALIBRATION", str(path))
    return path


@pytest.fixture
def small(monkeypatch):
    """Workers take these from their own import: only counts of the client are made small."""
    monkeypatch.setattr(calibrate, "SIZES", (200, 2000))
    monkeypatch.setattr(calibrate, "N_EMPTY", 20)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_measures_keeps_and_reports(path, small, capsys, as_json):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--calibrate", *(["--json"] if as_json else [])])
    assert ended.value.code == 0
    found = load()
    assert found.source.startswith("calibration of 20")
    assert found.cpu != DEFAULTS.cpu
    shown = capsys.readouterr()
    assert "Calibrating" in shown.err
    if as_json:
        reported = json.loads(shown.out)
        assert reported["findings"][0]["subject"] == "machine"
        assert reported["calibration"]["file"] == str(path)
        assert reported["calibration"]["costs"]["cpu"] == vars(found.cpu)
        assert {s["n_nodes"] for s in reported["calibration"]["samples"]} == {0, 200, 2000}
    else:
        assert "128 searches" in shown.out
        assert "An empty task" in shown.out


def test_a_run_plans_by_the_calibration_and_says_so(path, tmp_path, capsys):
    snapshot = make_snapshot(tmp_path / "store")
    config = config_for(snapshot, tmp_path / "out", workers=1, device="cpu")
    by_default = measure(snapshot, config)
    assert by_default.cluster["costs"]["source"] == DEFAULTS.source
    assert by_default.cluster["n_tasks"] == 1  # all of them travel together
    # Where a task costs nothing and searches are slow, each is one.
    costs = replace(DEFAULTS, cpu=Cost(1.0, 1e-9, 1000.0, 1e-9), task_s=1e-6)
    save(calibrate.Calibration("2026-01-02", costs, (), ("cpu",), 1.0))
    calibrated = measure(snapshot, config)
    assert calibrated.cluster["costs"]["source"].startswith("calibration of 2026-01-02; gpu: ")
    assert calibrated.cluster["costs"]["cpu"]["sweep_s"] == 1000.0
    assert calibrated.cluster["n_search_tasks"] == calibrated.cluster["n_searches"]
    assert measured(snapshot, calibrated) == measured(snapshot, by_default) == expected(snapshot)


def test_a_measurement_that_fails_keeps_nothing(path, small, monkeypatch, capsys):
    monkeypatch.setattr(calibrate, "SIZES", (0,))
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--calibrate"])
    assert ended.value.code == 2
    assert "calibration with 0 routers: " in capsys.readouterr().err
    assert not path.exists()


def test_a_calibration_that_cannot_be_kept_is_reported(path, small, monkeypatch, capsys):
    monkeypatch.setattr(calibration_file, "path_of", lambda here: path / "below" / "a file")
    path.write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--calibrate"])
    assert ended.value.code == 2
    assert "cannot be written there" in capsys.readouterr().err


@pytest.mark.gpu
def test_on_a_gpu_machine_both_devices_are_measured(path, small, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--calibrate", "--json"])
    assert ended.value.code == 0
    reported = json.loads(capsys.readouterr().out)["calibration"]
    assert reported["devices"] == ["cpu", "gpu"]
    assert {(s["device"], s["what"]) for s in reported["samples"]} == {
        ("cpu", "search"),
        ("cpu", "sweep"),
        ("gpu", "transfer"),
        ("gpu", "search"),
        ("gpu", "sweep"),
        ("cpu", "task"),
    }
    assert "defaults" not in load().source
