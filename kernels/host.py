"""The host machine: cores, threads, memory, and what must be compiled for it."""

from kernels._cpu.compile import Work, compile_cpu, compiled_modules, is_compiled
from kernels._cpu.memory import check_fits
from kernels._cpu.threads import THREADS_VARIABLE, n_cores, n_threads

__all__ = [
    "THREADS_VARIABLE",
    "Work",
    "check_fits",
    "compile_cpu",
    "compiled_modules",
    "is_compiled",
    "n_cores",
    "n_threads",
]
