import os

import pytest

from pipeline.schedule.cluster import gpus


@pytest.mark.parametrize(
    ("present", "allowed", "visible"),
    [
        (["0", "1"], None, ["0", "1"]),
        (["0", "1"], "1", ["1"]),
        (["0", "1"], "", []),
        (["0", "1"], "-1", []),
        (["0", "1"], "1,7,0", ["1"]),
        (["0", "1"], "GPU-ab12", ["GPU-ab12"]),
        ([], "0", []),
    ],
)
def test_cuda_visible_devices_is_respected(monkeypatch, present, allowed, visible):
    monkeypatch.setattr(gpus, "_present", lambda: present)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if allowed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    assert gpus.visible_gpus() == visible


def test_no_nvidia_smi_means_no_gpu(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert gpus._from_nvidia_smi() == []


def say(folder, monkeypatch, text):
    """An nvidia-smi that prints this, with status 0."""
    script = folder / "nvidia-smi"
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_driver_that_answers_in_words_has_no_gpu(tmp_path, monkeypatch):
    say(tmp_path, monkeypatch, "No devices were found")
    assert gpus._from_nvidia_smi() == []
    assert gpus._models_from_nvidia_smi() == {}


def test_models_are_known_by_index_and_by_uuid(tmp_path, monkeypatch):
    say(tmp_path, monkeypatch, "0, GPU-ab12, NVIDIA H200, a\nwarning\n1, GPU-cd34, NVIDIA L4")
    assert gpus._models_from_nvidia_smi() == {
        "0": "NVIDIA H200, a",
        "GPU-ab12": "NVIDIA H200, a",
        "1": "NVIDIA L4",
        "GPU-cd34": "NVIDIA L4",
    }
