"""What errors of kernels, files and memory mean for the task that ran into them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from kernels import KernelError
from kernels.errors import CheckError, DeviceError, DeviceMemoryError
from pipeline.errors import (
    DeviceLostError,
    OutOfMemoryError,
    PipelineError,
    RetryableError,
    StoreError,
    UnreachableError,
)
from pipeline.model.search.tasks import Device
from pipeline.places.urls import is_url
from pipeline.schedule.work.resident import resident

# CUDA's errors, of runtime and driver, after which a process cannot use the device any longer: it
# is gone, or every later call fails too. Of the others, kernels recognise a lack of memory, and a
# wrong argument would be wrong again.
_LOST = (
    *("DevicesUnavailable", "DeviceUnavailable", "NoDevice", "InvalidDevice"),
    *("DeviceUninitialized", "DeviceNotLicensed", "InitializationError", "NotInitialized"),
    *("ECCUncorrectable", "NvlinkUncorrectable", "HardwareStackError", "ContextIsDestroyed"),
    *("IllegalAddress", "IllegalInstruction", "MisalignedAddress", "InvalidAddressSpace"),
    *("InvalidPc", "Assert", "LaunchFailure", "LaunchFailed", "LaunchTimeout"),
    *("SystemNotReady", "Contained", "Unknown"),
)
_LOST_WORDS = {name.lower() for name in _LOST}
_CUDA = re.compile(r"cudaError(\w+)|CUDA_ERROR_(\w+)")
_IN_WORDS = ("fallen off the bus", "gpu is lost", "no gpu can be used")


def is_lost(error: BaseException) -> bool:
    """Whether an error says that a GPU has failed, and not only this call."""
    text = str(error)
    if any(words in text.lower() for words in _IN_WORDS):
        return True
    names = {
        (runtime or driver).replace("_", "").lower() for runtime, driver in _CUDA.findall(text)
    }
    return bool(names & _LOST_WORDS)


@contextlib.contextmanager
def errors_of(name: str, device: Device, snapshot: str) -> Iterator[None]:
    """Turn errors into those that the driver can handle.

    Raises
    ------
    OutOfMemoryError
        The device had too little memory; a smaller task may fit.
    DeviceLostError
        The GPU of this worker has failed, or is missing.
    RetryableError
        Something could not be read or written just now, or not here; the device cannot run the
        kernels.
    StoreError, PipelineError
        The snapshot is broken, on every worker; a search failed, or its certificate refuses it.
    """
    try:
        yield
    except (DeviceMemoryError, MemoryError) as error:
        resident(device).drop_all()
        raise OutOfMemoryError(f"{name}: {error}") from None
    except DeviceError as error:  # of this worker; another may have what is missing here
        kind = DeviceLostError if is_lost(error) else RetryableError
        raise kind(f"{name}: {error}") from None
    except StoreError as error:
        # Of a URL there is nothing to look at here.
        is_seen = is_url(snapshot) or Path(snapshot).is_dir()
        if is_seen and not isinstance(error, UnreachableError):
            raise
        raise RetryableError(f"{name}: this worker cannot see it: {error}") from None
    except CheckError as error:
        raise PipelineError(f"{name}: wrong result on {device}: {error}") from None
    except KernelError as error:
        raise PipelineError(f"{name}: {error}") from None
    except OSError as error:
        raise RetryableError(f"{name}: {error}") from error
    except Exception as error:  # CuPy's own, which need not be installed
        if device == "gpu" and is_lost(error):
            raise DeviceLostError(f"{name}: {error}") from None
        raise
