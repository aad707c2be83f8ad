"""The barrier of a whole grid: no block passes early, and its counter outlives launches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernels
from kernels._cuda.loader import OPTIONS

# Every block counts itself before each barrier; after it each must find all of them counted.
MEETINGS = r"""
extern "C" __global__ void meet(
    unsigned* arrivals, int* counts, const int n_meetings, int* n_early)
{
    for (int i = 0; i < n_meetings; ++i) {
        if (threadIdx.x == 0) atomicAdd(&counts[i], 1);
        grid_barrier(arrivals);
        if (*(volatile int*)&counts[i] != (int)gridDim.x) atomicAdd(n_early, 1);
    }
}
"""
N_MEETINGS = 1001  # odd: the top bit stays set


def source() -> str:
    common = Path(kernels.__file__).parent / "_cuda" / "common.cuh"
    return f"{common.read_text()}\n{MEETINGS}"


def arrivals_after(before: int, n_blocks: int) -> list[int]:
    """The counter after each arrival of one barrier, block 0 first, last or in between."""
    after = []
    for place in {0, n_blocks // 2, n_blocks - 1}:
        now = before
        for i in range(n_blocks):
            now = (now + (0x80000000 - (n_blocks - 1) if i == place else 1)) % 2**32
            flipped = (now ^ before) >> 31
            assert flipped == (i == n_blocks - 1)
        after.append(now)
    return after


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 132, 1056, 65_535])
def test_the_top_bit_flips_with_the_last_arrival_only(n_blocks):
    """The arithmetic of ``grid_barrier``; blocks come in any order."""
    assert set(arrivals_after(0, n_blocks)) == {0x80000000}
    assert set(arrivals_after(0x80000000, n_blocks)) == {0}


def test_compiles_without_a_gpu():
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
    from tests.unit.kernels._cuda.test_cu_files_compile import compiler_log

    assert compiler_log(source(), "meetings.cu", "sm_80", OPTIONS) == ""


@pytest.mark.gpu
def test_no_block_passes_before_all_are_there_in_launches_that_keep_the_counter():
    import cupy as cp

    from kernels._cuda.launch import cooperative_grid

    module = cp.RawModule(code=source(), options=OPTIONS, enable_cooperative_groups=True)
    meet = module.get_function("meet")
    arrivals, n_early = cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
    largest = cooperative_grid(meet, 1 << 20)
    for n_blocks in (largest, 1, 3, largest, largest // 2):
        counts = cp.zeros(N_MEETINGS, np.int32)
        arguments = (arrivals, counts, np.int32(N_MEETINGS), n_early)
        meet((n_blocks,), (448,), arguments)
        assert cp.all(counts == n_blocks)
        assert int(n_early[0]) == 0
        assert int(arrivals[0]) in (0, 0x80000000)
