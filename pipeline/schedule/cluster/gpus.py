"""Which GPUs this machine has, found without a CUDA context: client and scheduler hold none."""

from __future__ import annotations

import importlib.util
import os
import subprocess


def visible_gpus() -> list[str]:
    """Indices or UUIDs of the GPUs that a process started here could use, in CUDA's order.

    NVML says which there are, ``CUDA_VISIBLE_DEVICES`` which of them may be used. Empty without a
    driver.
    """
    present = _present()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if not present or allowed is None:
        return present
    names = []
    for name in (part.strip() for part in allowed.split(",")):
        # CUDA stops at the first name that is not a device.
        if name.isdecimal() and name not in present:
            break
        if not name.isdecimal() and not name.startswith(("GPU-", "MIG-")):
            break
        names.append(name)
    return names


def has_cupy() -> bool:
    """Whether CuPy, which every search on a GPU needs, is installed; it is not imported."""
    return importlib.util.find_spec("cupy") is not None


def _present() -> list[str]:
    try:
        import pynvml
    except ImportError:
        return _from_nvidia_smi()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:  # no driver
        return []
    try:
        return [str(i) for i in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def _from_nvidia_smi() -> list[str]:
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    # A driver without devices prints a message, some with status 0.
    lines = done.stdout.split() if done.returncode == 0 else []
    return [line for line in lines if line.isdecimal()]


def gpu_models() -> list[str]:
    """Models of the GPUs that a process started here could use, each once, sorted."""
    wanted = visible_gpus()
    models = _models()
    return sorted({models.get(name, name) for name in wanted})


def _models() -> dict[str, str]:
    """Model by index and by UUID."""
    try:
        import pynvml
    except ImportError:
        return _models_from_nvidia_smi()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:  # no driver
        return {}
    models = {}
    try:
        for i in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(i)
            model = _text(pynvml.nvmlDeviceGetName(handle))
            models[str(i)] = models[_text(pynvml.nvmlDeviceGetUUID(handle))] = model
    except pynvml.NVMLError:  # a GPU has failed: use what is known so far
        pass
    finally:
        pynvml.nvmlShutdown()
    return models


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _models_from_nvidia_smi() -> dict[str, str]:
    command = ["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    models: dict[str, str] = {}
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        parts = [part.strip() for part in line.split(",", 2)]
        if len(parts) == 3 and parts[0].isdecimal():
            models[parts[0]] = models[parts[1]] = parts[2]
    return models
