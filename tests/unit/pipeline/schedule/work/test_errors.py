"""Which errors say that a GPU has failed."""

import subprocess
import sys

import pytest

from kernels.errors import DeviceError
from pipeline.errors import DeviceLostError, PipelineError, RetryableError, StoreError
from pipeline.places import folder_of
from pipeline.schedule.work.errors import errors_of, is_lost
from pipeline.schedule.work.resident import snapshot_at
from tests.integration.measured import make_snapshot
from tests.real_data import REPOSITORY
from tests.s3 import BUCKET, keys


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""


@pytest.mark.parametrize(
    "text",
    [
        "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable",
        "cudaErrorDeviceUnavailable: gone",
        "cudaErrorECCUncorrectable: uncorrectable ECC error encountered",
        "CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered",
        "cudaErrorNoDevice: no CUDA-capable device is detected",
        "cudaErrorIllegalAddress: an illegal memory access was encountered",
        "CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure",
        "CUDA_ERROR_UNKNOWN: unknown error",
        "bfs.cu cannot be loaded on GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access",
        "GPU has fallen off the bus.",
        "NVML_ERROR_GPU_IS_LOST: GPU is lost",
        "no GPU can be used: CuPy finds no driver or no device",
    ],
)
def test_a_device_that_has_failed_is_recognised(text):
    assert is_lost(CUDARuntimeError(text))
    for error in (CUDARuntimeError(text), DeviceError(text)):
        with pytest.raises(DeviceLostError, match=r"^bfs_AS1: "), errors_of("bfs_AS1", "gpu", ""):
            raise error


@pytest.mark.parametrize(
    "text",
    [
        "cudaErrorInvalidValue: invalid argument",
        "cudaErrorMemoryAllocation: out of memory",
        "CUDA_ERROR_INVALID_VALUE: invalid argument",
        "cudaErrorInvalidConfiguration: invalid configuration argument",
        "it is unknown",
    ],
)
def test_other_errors_of_a_device_are_those_of_the_task(text):
    assert not is_lost(CUDARuntimeError(text))
    with pytest.raises(CUDARuntimeError), errors_of("bfs_AS1", "gpu", ""):
        raise CUDARuntimeError(text)
    with pytest.raises(RetryableError) as caught, errors_of("bfs_AS1", "gpu", ""):
        raise DeviceError(text)
    assert not isinstance(caught.value, DeviceLostError)


def test_a_task_on_cores_cannot_lose_a_device():
    with pytest.raises(CUDARuntimeError), errors_of("bfs_AS1", "cpu", ""):
        raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access")


PROGRAM = """
import cupy
from pipeline.errors import DeviceLostError
from pipeline.schedule.work.errors import errors_of
kernel = cupy.RawKernel("extern \\"C\\" __global__ void f(int *p) { *p = 1; }", "f")
for attempt in ("first", "second"):  # the context is broken for good
    try:
        with errors_of(attempt, "gpu", ""):
            if attempt == "first":
                kernel((1,), (1,), (cupy.uint64(8),))
            cupy.arange(3).sum().get()
    except DeviceLostError as error:
        print(error, flush=True)
import os
os._exit(0)  # CuPy cannot free anything
"""


@pytest.mark.gpu
def test_an_illegal_access_of_real_device_code_is_recognised():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True, timeout=300
    )
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["first", "second"], done.stderr
    # By the runtime's name, or by the driver's.
    assert all("illegaladdress" in line.replace("_", "").lower() for line in lines), lines


def test_errors_that_have_nothing_to_do_with_devices_stay_as_they_are():
    with pytest.raises(PipelineError), errors_of("bfs_AS1", "gpu", ""):
        raise PipelineError("no")


@pytest.fixture
def elsewhere(s3, machine):
    """The address of a snapshot at a URL, on a machine that has nothing of it yet."""
    with make_snapshot(folder_of(f"s3://{BUCKET}/store")) as written:
        address = written.address
    machine("worker")
    snapshot_at.cache_clear()
    yield address
    snapshot_at.cache_clear()


def read(address):
    with errors_of("bfs_AS1", "cpu", address):
        snapshot_at(address).graph(0, check=True)


@pytest.mark.parametrize("is_altered", [False, True])
@pytest.mark.parametrize("name", ["manifest.json", "arcs-000.parquet"])
def test_a_snapshot_at_a_url_that_is_broken_for_all_is_not_tried_again(
    s3, elsewhere, name, is_altered
):
    (key,) = (each for each in keys(s3, "store/versions") if each.endswith(name))
    if is_altered:
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"something else")
    else:
        s3.delete_object(Bucket=BUCKET, Key=key)
    with pytest.raises(StoreError, match=f"s3://{BUCKET}/store|{name}"):
        read(elsewhere)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("AWS_ENDPOINT_URL", "http://127.0.0.1:9"), ("HOPSCOPE_MIRRORS", "/dev/null/mirrors")],
)
def test_a_snapshot_at_a_url_that_one_worker_cannot_reach_is_tried_on_another(
    elsewhere, monkeypatch, variable, value
):
    monkeypatch.setattr("pipeline.places.objects.ATTEMPTS", 1)
    with monkeypatch.context() as patch:
        patch.setenv(variable, value)
        with pytest.raises(RetryableError, match=r"^bfs_AS1: this worker cannot see it: "):
            read(elsewhere)
    read(elsewhere)


def test_a_snapshot_in_a_folder_is_tried_elsewhere_if_the_folder_is_not_here(tmp_path):
    with pytest.raises(RetryableError, match="this worker cannot see it"):
        read(str(tmp_path / "gone"))
    with pytest.raises(StoreError):
        read(str(tmp_path))
