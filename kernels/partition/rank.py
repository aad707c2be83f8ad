"""All that one rank can do with its part, on cores or on the current GPU; compiled when needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from kernels._cuda.launch import on_device_of, to_gpu
from kernels.partition.exchange import DEADLINE_S, Collective
from kernels.partition.search import PartResult
from kernels.partition.split import Part

if TYPE_CHECKING:
    import numpy as np

    from kernels.csr import Device
    from kernels.eccentricity.questions import Question
    from kernels.partition.sweep import SweepResult
    from kernels.partition.widths import PartWidths


class Rank:
    """One rank of a graph in parts; each method is called by all ranks alike.

    Parameters
    ----------
    part : Part
        On the host.
    collective : Collective
    device : str
        ``gpu``: the current one, to which the part is copied.

    Raises
    ------
    DeviceMemoryError
        If the part does not fit, here and in each method.
    """

    def __init__(self, part: Part, collective: Collective, device: Device):
        self.collective, self._device = collective, device
        if device == "gpu":
            indptr, indices = to_gpu(part.indptr), to_gpu(part.indices)
            part = Part(part.split, part.rank, indptr, indices)
        self.part = part
        self._steps: Any = None
        self._sweep_steps: Any = None

    def sweep(self, sources: Sequence[int] | np.ndarray) -> SweepResult:
        """As ``sweep.sweep``."""
        from kernels.partition.sweep import sweep

        with self._errors():
            return sweep(self._sweeping(), self.part, sources, self.collective)

    def widths(self, questions: Iterable[Question], max_searches: int | None = None) -> PartWidths:
        """As ``widths.part_widths``."""
        from kernels.partition.widths import Searches, part_widths

        with self._errors():
            steps = (self._searching(), self._sweeping())
            searches = Searches(self.part, *steps, self.collective)
            return part_widths(searches, questions, max_searches)

    def certified(self, source: int) -> PartResult:
        """Levels from one source; CheckError on every rank if the certificate refuses them."""
        from kernels.partition.check import check_part
        from kernels.partition.search import search

        with self._errors():
            found = search(self._searching(), self.part, source, self.collective)
            check_part(self.part, source, found, self.collective)
            return found

    def _errors(self) -> AbstractContextManager[None]:
        on_gpu = self._device == "gpu"
        return on_device_of(self.part.indptr) if on_gpu else contextlib.nullcontext()

    def _searching(self) -> Any:
        if self._steps is None:
            if self._device == "gpu":
                from kernels.partition.gpu import GpuSteps

                self._steps = GpuSteps(self.part)
            else:
                from kernels.partition.cpu import CpuSteps

                self._steps = CpuSteps(self.part)
        return self._steps

    def _sweeping(self) -> Any:
        if self._sweep_steps is None:
            if self._device == "gpu":
                from kernels.partition.sweep.gpu import GpuSweepSteps

                self._sweep_steps = GpuSweepSteps(self.part)
            else:
                from kernels.partition.sweep.cpu import CpuSweepSteps

                self._sweep_steps = CpuSweepSteps(self.part)
        return self._sweep_steps


def gpu_name() -> bytes:
    """What the GPUs' ranks of one graph have in common; no GPU is used for it."""
    from kernels.partition.exchange.nccl import unique_name

    return unique_name()


def gpu_collective(
    n_ranks: int, name: bytes, rank: int, deadline_s: float = DEADLINE_S
) -> Collective:
    """Connect ranks with one GPU each; see ``nccl.NcclCollective``."""
    from kernels.partition.exchange.nccl import NcclCollective

    return NcclCollective(n_ranks, name, rank, deadline_s)
