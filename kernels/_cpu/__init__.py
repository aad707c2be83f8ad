"""Shared by the kernels on cores: lanes, signatures, threads, memory, compiling ahead."""
