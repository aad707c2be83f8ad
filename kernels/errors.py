"""Errors that kernels raise; each also derives from a builtin, so callers need not import them."""

from __future__ import annotations


class KernelError(Exception):
    """Base of every error raised by ``kernels``."""


class GraphError(KernelError, ValueError):
    """A graph, a node or an argument is not what a kernel can work on."""


class GraphTypeError(GraphError, TypeError):
    """What was given as a graph is something else."""


class DeviceError(KernelError, RuntimeError):
    """A device is missing, or a kernel cannot be built or run on it."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A device has too little free memory for this call; a smaller one may fit."""


class HostMemoryError(KernelError, MemoryError):
    """The host has too little free memory for this call; a smaller one may fit."""


class CheckError(KernelError, AssertionError):
    """A result is wrong: its certificate rejects it."""
