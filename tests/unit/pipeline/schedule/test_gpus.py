import pytest

from pipeline.schedule import gpus


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
