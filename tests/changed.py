"""Which unit tests belong to what changed: ``python -m tests.changed [COMMIT]`` prints their paths.

Changed is what differs from the commit (default: the one before the last), with what git does not
know yet. A module has the tests of its room, the nearest folder of tests/unit that mirrors its own;
of files of packages that no folder mirrors, as of benchmarks, and of tests, themselves.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNIT = Path("tests/unit")
_OF_ROOMS = (".py", ".cu", ".cuh", ".html", ".js", ".css")


def changed_files(commit: str, root: Path = ROOT) -> list[Path]:
    """Files that differ from a commit and are still there, from the root on."""
    names: set[str] = set()
    git = ("git", "-C", str(root))
    known = ("diff", "--name-only", "-z", commit)
    new = ("ls-files", "-z", "-o", "--exclude-standard")
    for words in (known, new):
        done = subprocess.run([*git, *words], capture_output=True, text=True, check=True)
        names |= set(filter(None, done.stdout.split("\0")))
    return sorted(Path(name) for name in names if (root / name).is_file())


def rooms_of(files: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Folders and files of unit tests, none of them inside another."""
    found: set[Path] = set()
    for file in files:
        if file.is_relative_to(UNIT):
            if file.name.startswith("test_"):
                found.add(file)
            elif file.suffix == ".py":
                found.add(file.parent)
        elif not file.is_relative_to("tests/integration") and file.suffix in _OF_ROOMS:
            room = next((at for at in file.parents if (root / UNIT / at).is_dir()), Path())
            if room != Path():
                found.add(UNIT / room)
    inside = {one for one in found for at in found if one != at and one.is_relative_to(at)}
    return sorted(found - inside)


if __name__ == "__main__":
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD~1"
    sys.stdout.write("\n".join(map(str, rooms_of(changed_files(commit)))) + "\n")
