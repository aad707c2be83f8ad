"""How numba finds the folders: a locator before its own, once numba is imported."""

from __future__ import annotations

import functools
import importlib.machinery
import logging
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

log = logging.getLogger(__name__)

_CACHING = "numba.core.caching"
# Instead of the bitcode of a function that no compiled one calls: this, and its symbols in lines.
NOT_TO_LINK = b"not to be linked\n"


def install() -> None:
    """Let numba ask us first where code is kept, now or when it is imported.

    Its variable for this, ``NUMBA_CACHE_LOCATOR_CLASSES``, would pass to programs that this process
    starts, and fail in those without our packages. Where the user has set it, numba asks only what
    is named there.
    """
    if _CACHING in sys.modules:
        _add(sys.modules[_CACHING])
    elif not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


class _Watch(MetaPathFinder):
    """Waits for numba's module of caches, and goes."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _CACHING:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute: Callable[[ModuleType], None] = spec.loader.exec_module

            def execute_and_add(module: ModuleType) -> None:
                execute(module)
                _add(module)

            spec.loader.exec_module = execute_and_add  # type: ignore[method-assign]
        return spec


def _add(caching: ModuleType) -> None:
    classes: list[Any] = caching.CacheImpl._locator_classes
    if any(one.__module__ == __name__ for one in classes):
        return
    from kernels.compiled.folder import folder_of

    class Locator(caching._CacheLocator):  # type: ignore[name-defined]
        """One of our sources: its state is in the name of its folder."""

        def __init__(self, folder: Path, line: int) -> None:
            self.folder, self.line = folder, line

        def get_cache_path(self) -> str:
            return str(self.folder)

        def get_source_stamp(self) -> str:
            return self.folder.name

        def get_disambiguator(self) -> str:
            return str(self.line)

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Locator | None:
            """None for a function of others: numba then asks its own locators."""
            folder = folder_of(Path(py_file).resolve())
            return None if folder is None else cls(folder, py_func.__code__.co_firstlineno)

    Locator.__module__ = __name__
    classes.insert(0, Locator)
    caching.CompileResultCacheImpl.rebuild = _rebuilding(caching.CompileResultCacheImpl.rebuild)

    def is_ours(cache: Any) -> bool:
        return isinstance(cache._impl.locator, Locator)

    caching.Cache.save_overload = _saving(caching.Cache.save_overload, is_ours)


def _saving(save: Callable[..., None], is_ours: Callable[[Any], bool]) -> Callable[..., None]:
    """numba's ``save_overload``, which goes on where the disk is full: the code is in memory."""

    def save_or_say(self: Any, sig: Any, data: Any) -> None:
        try:
            save(self, sig, data)
        except OSError as error:
            if not is_ours(self):
                raise
            _not_kept(Path(self.cache_path).parent, error.strerror or str(error))

    return save_or_say


@functools.cache
def _not_kept(folder: Path, reason: str) -> None:
    log.warning(
        "compiled code is not kept, the next process compiles it again: %s: %s", folder, reason
    )


def _rebuilding(rebuild: Callable[..., Any]) -> Callable[..., Any]:
    """numba's ``rebuild`` of a kept function, which takes NOT_TO_LINK as well."""

    def rebuild_or_refuse_to_link(self: Any, target_context: Any, payload: Any) -> Any:
        (name, kind, (machine_code, bitcode)), *rest = payload
        if not bitcode.startswith(NOT_TO_LINK):
            return rebuild(self, target_context, payload)
        symbols = bitcode.removeprefix(NOT_TO_LINK).decode().split("\n")
        target_context.codegen()._engine._defined_symbols.update(symbols)
        library = (name, kind, (machine_code, _empty_bitcode()))
        result = rebuild(self, target_context, (library, *rest))
        folder = Path(self.locator.get_cache_path())
        result.library._get_module_for_linking = functools.partial(_refuse, name, folder)
        return result

    return rebuild_or_refuse_to_link


@functools.cache
def _empty_bitcode() -> bytes:
    from llvmlite import binding

    return binding.parse_assembly("").as_bitcode()


def _refuse(name: str, folder: Path) -> None:
    """For who writes a compiled caller of a function that had none when the release was made."""
    shutil.rmtree(folder, ignore_errors=True)
    raise RuntimeError(
        f"{name} came along for callers in Python alone, and a compiled function calls it now: "
        f"{folder} was removed; the next process compiles what was in it"
    )
