"""This machine, as kernels on its cores see it: cores, threads, memory, what must be compiled."""

from kernels._cpu.compile import Work, compile_cpu, compiled_modules, is_compiled
from kernels._cpu.memory import check_fits
from kernels._cpu.threads import n_cores, n_threads

__all__ = [
    "Work",
    "check_fits",
    "compile_cpu",
    "compiled_modules",
    "is_compiled",
    "n_cores",
    "n_threads",
]
