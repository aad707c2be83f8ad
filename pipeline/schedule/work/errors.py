"""What errors of kernels, files and memory mean for the task that ran into them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from kernels import KernelError
from kernels.errors import CheckError, DeviceError, DeviceMemoryError
from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError, StoreError
from pipeline.model.search.tasks import Device
from pipeline.schedule.work.resident import resident


@contextlib.contextmanager
def errors_of(name: str, device: Device, snapshot: str) -> Iterator[None]:
    """Turn errors into those that the driver can handle.

    Raises
    ------
    OutOfMemoryError
        The device had too little memory; a smaller task may fit.
    RetryableError
        Something could not be read or written just now, or not here; the device is missing on this
        worker or cannot run the kernels.
    StoreError, PipelineError
        The snapshot is broken; a search failed, or its certificate refuses it.
    """
    try:
        yield
    except (DeviceMemoryError, MemoryError) as error:
        resident(device).drop_all()
        raise OutOfMemoryError(f"{name}: {error}") from None
    except DeviceError as error:  # of this worker; another may have what is missing here
        raise RetryableError(f"{name}: {error}") from None
    except StoreError as error:
        if Path(snapshot).is_dir():
            raise
        raise RetryableError(f"{name}: this worker cannot see it: {error}") from None
    except CheckError as error:
        raise PipelineError(f"{name}: wrong result on {device}: {error}") from None
    except KernelError as error:
        raise PipelineError(f"{name}: {error}") from None
    except OSError as error:
        raise RetryableError(f"{name}: {error}") from error
