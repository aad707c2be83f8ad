"""A calibration is kept and found again; any other file there is ignored, with a warning."""

import json
import os
import re
import stat
from dataclasses import replace

import pytest

from pipeline.errors import UsageError
from pipeline.schedule.calibrate import file as calibration_file
from pipeline.schedule.calibrate.file import load, save
from pipeline.schedule.calibrate.measure import Calibration, Sample
from pipeline.schedule.plan.costs import DEFAULTS, Cost, Costs

COSTS = Costs(
    cpu=Cost(1e-5, 2e-9, 3e-5, 4e-8),
    gpu=Cost(1e-4, 2e-10, 3e-4, 4e-10),
    transfer_byte_s=5e-11,
    task_s=1.5e-3,
    source="calibration of 2026-01-02T03:04:05+00:00",
)
SAMPLES = (Sample("cpu", "search", 10, 36, 1e-5),)


def calibration(devices=("cpu", "gpu")):
    return Calibration("2026-01-02T03:04:05+00:00", COSTS, SAMPLES, devices, 12.0)


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "calibration.json"
    monkeypatch.setenv("HOPSCOPE_CALIBRATION", str(path))
    return path


def changed(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_a_kept_calibration_is_found(path):
    assert save(calibration()) == path
    assert load() == COSTS
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_without_a_gpu_its_costs_stay_the_defaults(path):
    save(calibration(("cpu",)))
    found = load()
    assert found.cpu == COSTS.cpu
    assert found.gpu == DEFAULTS.gpu
    assert found.source == f"{COSTS.source}; gpu: {DEFAULTS.source}"


def test_each_machine_has_a_file_of_its_own_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("HOPSCOPE_CALIBRATION")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here = save(calibration())
    assert here.parent == tmp_path / "hopscope"
    monkeypatch.setattr(calibration_file, "gpu_models", lambda: ["Another GPU"])
    assert load() == DEFAULTS  # no file yet: nothing to warn of
    there = save(calibration())
    assert there != here
    assert load() == COSTS


def test_no_file_means_defaults(path, caplog):
    assert load() == DEFAULTS
    assert "does not exist" in caplog.text  # it was named


def test_the_null_device_asks_for_the_defaults(monkeypatch, caplog):
    monkeypatch.setenv("HOPSCOPE_CALIBRATION", os.devnull)
    assert load() == DEFAULTS
    assert caplog.text == ""
    with pytest.raises(UsageError, match="it is not a file"):
        save(calibration())
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def put(content):
    return lambda path: path.write_bytes(content)


def setting(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(content):
        for key in keys:
            content = content[key]
        content[last] = value

    return lambda path: changed(path, change)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (put(b""), "it is not JSON"),
        (put(b"\xff\xfe\x00"), "it is not JSON"),
        (put(b"[" * 60_000), "it is not JSON"),
        (put(b'{"version": ' + b"9" * 5000 + b"}"), "it is not JSON"),
        (put(b" " * 70_000), "it has 70,000 bytes"),
        (put(b"[1, 2]"), "not a calibration of version 1"),
        (put(b'{"version": 2}'), "not a calibration of version 1"),
        (put(b'{"version": 1}'), "it names no machine"),
        (setting("machine", "cpu", "Another\x1b[31m one"), r"another machine .*Another\?\[31m one"),
        (setting("machine", "cpu", "x" * 500), r"another machine \(processor: x{57}\.\.\.,"),
        (setting("machine", "cores", 4096), "another machine .cores: 4096"),
        (setting("machine", "gpus", ["A100"]), "another machine .GPUs: "),
        (setting("machine", "software", "kernels", "0" * 12), "another version of hopscope"),
        (setting("date", 7), "no date"),
        (setting("costs", []), "no costs"),
        (setting("costs", "cpu", None), "no costs for a cpu"),
        (setting("costs", "gpu", 3), "no costs for a gpu"),
        (setting("costs", "task_s", "fast"), "task_s is not a number"),
        (setting("costs", "task_s", True), "task_s is not a number"),
        (setting("costs", "task_s", 0), "task_s is 0, not a time"),
        (setting("costs", "task_s", float("nan")), "task_s is nan, not a time"),
        (setting("costs", "cpu", "sweep_s", float("inf")), "sweep_s is inf, not a time"),
        (setting("costs", "cpu", "search_arc_s", -1e-9), "search_arc_s is -1e-09, not a time"),
        (setting("costs", "gpu", "sweep_arc_s", 10**400), "sweep_arc_s is 10000"),
        (setting("costs", "transfer_byte_s", 1e5), "transfer_byte_s is 100000.0, not a time"),
    ],
)
def test_a_file_that_is_no_calibration_of_this_machine_is_ignored_with_a_warning(
    path, caplog, spoil, reason
):
    save(calibration())
    spoil(path)
    found = load()
    assert replace(found, source="") == replace(DEFAULTS, source="")
    assert found.source.startswith(f"{DEFAULTS.source} (calibration.json: ")
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith(f"{path}: the calibration is not used: ")
    assert message.endswith("; measure again with: hopscope doctor --calibrate")
    assert re.search(reason, message)
    assert message.isprintable()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_is_neither_read_nor_replaced(path, caplog, make):
    path.parent.mkdir()
    make(path)
    assert replace(load(), source="") == replace(DEFAULTS, source="")
    assert "the calibration is not used" in caplog.text
    with pytest.raises(UsageError, match="it is not a file"):
        save(calibration())


def test_a_folder_that_cannot_be_written_is_reported(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOPSCOPE_CALIBRATION", str(tmp_path / "file" / "calibration.json"))
    with pytest.raises(UsageError, match="cannot be written there"):
        save(calibration())
    assert replace(load(), source="") == replace(DEFAULTS, source="")


def test_a_failed_write_leaves_what_was_there(path, monkeypatch):
    save(calibration())

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(calibration_file.os, "replace", full)
    with pytest.raises(UsageError, match="No space left"):
        save(calibration(("cpu",)))
    assert load() == COSTS
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
