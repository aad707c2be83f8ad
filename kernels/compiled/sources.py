"""Which sources decide about the compiled code of a module.

numba looks only at the file of a function. A compiled function that calls one of another module
would keep the old callee when only that module changes, and so would one that uses a constant or
the fields of a named tuple. So a module counts with all modules of which it compiles something in.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernels", "pipeline")
# Of a checkout, not of an installed package: their functions call ours.
_BESIDE = ("tests", "benchmarks")
_COMPILES = re.compile(rb"^ *@njit\b|= njit\(", re.MULTILINE)
_IMPORT = re.compile(
    rb"^from ((?:kernels|pipeline|tests|benchmarks)\b[.\w]*) import (?:\(([^)]*)\)|(.*))",
    re.MULTILINE,
)
_NAME = re.compile(rb"(\w+)(?:\s+as\s+\w+)?")
_COMMENT = re.compile(rb"#.*")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_CLASS = re.compile(r"_?[A-Z]\w*")


class Sources:
    """The modules of a folder that holds ``kernels`` and ``pipeline``.

    Parameters
    ----------
    root : Path
        The folder; a checkout, or site-packages.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[Path, tuple[bytes, bytes, tuple[Path, ...]]] = {}
        self._digests: dict[Path, str] = {}

    def module_of(self, path: Path) -> str | None:
        """Dotted name of a source whose compiled code we keep; None for one of others."""
        try:
            parts = path.relative_to(self.root).with_suffix("").parts
        except ValueError:
            return None
        packages: tuple[str, ...] = PACKAGES
        if (self.root / "pyproject.toml").is_file():
            packages += _BESIDE
        return ".".join(parts) if parts[0] in packages else None

    def path_of(self, module: str) -> Path:
        """The source of a module or a package."""
        place = self.root.joinpath(*module.split("."))
        return place / "__init__.py" if place.is_dir() else place.with_name(f"{place.name}.py")

    def digest(self, path: Path) -> str:
        """Sixteen hex digits over a source and all that it compiles in.

        Raises
        ------
        OSError
            If it cannot be read.
        """
        if path not in self._digests:
            sha = hashlib.sha256()
            for one in sorted(self.closure(path)):
                name = str(one.relative_to(self.root)).encode()
                sha.update(name + b"\0" + self._read(one)[1])
            self._digests[path] = sha.hexdigest()[:16]
        return self._digests[path]

    def closure(self, path: Path) -> set[Path]:
        """A source and those of which it compiles something in, themselves or through others."""
        found, left = set(), [path]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left.extend(self._read(one)[2])
        return found

    def compiling(self, package: str = "") -> Iterator[Path]:
        """Sources of a package or module that compile functions; empty: all of ours."""
        if not package:
            for each in PACKAGES:
                yield from self.compiling(each)
            return
        path = self.path_of(package)
        paths = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
        yield from (one for one in paths if one.is_file() and _COMPILES.search(self._text(one)))

    def _text(self, path: Path) -> bytes:
        return self._known[path][0] if path in self._known else path.read_bytes()

    def _read(self, path: Path) -> tuple[bytes, bytes, tuple[Path, ...]]:
        """Text of a source, the digest of it alone, and the modules of which it compiles in."""
        if path not in self._known:
            text = path.read_bytes()
            self._known[path] = (text, hashlib.sha256(text).digest(), ())
            used = tuple(dict.fromkeys(self._used_by(text)))
            self._known[path] = (text, self._known[path][1], used)
        return self._known[path]

    def _used_by(self, text: bytes) -> Iterator[Path]:
        for package, listed, rest in _IMPORT.findall(text):
            for name in _NAME.findall(_COMMENT.sub(b"", listed or rest)):
                path = self._home(package.decode(), name.decode())
                if path is not None and self._counts(path, name.decode()):
                    yield path

    def _home(self, package: str, name: str) -> Path | None:
        """The module that an imported name is, or the one that it comes from."""
        place = self.root.joinpath(*package.split("."))
        for path in (place / f"{name}.py", place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
        return None

    def _counts(self, path: Path, name: str) -> bool:
        """Whether a name of a module may end up in compiled code."""
        text = self._text(path)
        return (
            b"numba" in text
            or bool(_CONSTANT.fullmatch(name))
            or (bool(_CLASS.fullmatch(name)) and b"NamedTuple" in text)
        )


@functools.cache
def sources() -> Sources:
    """Those that this module belongs to, read once in a process."""
    return Sources(ROOT)
