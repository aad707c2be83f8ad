"""Try the newest versions of all dependencies: ``python -m tests.newest [TEST...]``.

Installs what pyproject.toml names, without its upper bounds and pins, into an environment of its
own, prints which versions differ from locks/dev.txt, and runs the unit tests there (or those that
are named); the exit status is that of pytest. What breaks is to be mended, or to be bounded.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("build", "serve", "dev")
_OWN = re.compile(r"hopscope\[(.*)\]")  # extras of this project
_UPPER = re.compile(r"\s*(?:==|<=|<|~=|!=)[^,;\]]*")


def unbounded(requirement: str) -> str:
    """A requirement without pins and upper bounds: its name, extras, lower bounds and marker."""
    what, mark, marker = requirement.partition(";")
    name, *bounds = re.split(r"(?=[<>=!~])", what.strip(), maxsplit=1)
    kept = [one for one in "".join(bounds).split(",") if one and not _UPPER.match(one)]
    return f"{name.strip()}{','.join(kept)}{mark}{marker}"


def requirements(root: Path = ROOT) -> list[str]:
    """What pyproject.toml names for running and for tests, without upper bounds."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named, waiting = list(project["dependencies"]), list(EXTRAS)
    for extra in waiting:  # grows by the extras that others name
        for one in extras.get(extra, []):
            if own := _OWN.fullmatch(one):
                waiting += [name.strip() for name in own[1].split(",")]
            else:
                named.append(one)
    return [unbounded(one) for one in named]


def locked(lock: str) -> dict[str, tuple[str, ...]]:
    """Versions in a lock file, by name: one, or one for each of several Pythons."""
    known: dict[str, tuple[str, ...]] = {}
    for line in lock.splitlines():
        name, mark, version = line.partition(";")[0].strip().partition("==")
        if mark:
            key = name.partition("[")[0].lower()
            known[key] = (*known.get(key, ()), version)
    return known


def newer(installed: Iterable[str], known: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Lines on packages, as ``pip freeze`` prints them, that are not in a locked version."""
    rows = (line.partition("==") for line in installed if "==" in line)
    return [
        f"{name}: {', '.join(known[key])} -> {version}"
        for name, _, version in rows
        if (key := name.lower().replace("_", "-")) in known and version not in known[key]
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Install, print what is newer, and run the tests; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, default=ROOT / "build" / "newest", metavar="FOLDER")
    parser.add_argument("tests", nargs="*", default=["tests/unit"], metavar="TEST")
    given = parser.parse_args(words)
    python = given.venv / "bin" / "python3"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(given.venv)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "--upgrade", "--upgrade-strategy=eager", *requirements()], check=True
    )
    freeze = subprocess.run([*pip, "freeze"], capture_output=True, text=True, check=True)
    lines = newer(freeze.stdout.splitlines(), locked((ROOT / "locks/dev.txt").read_text()))
    sys.stdout.write("\n".join(lines or ["nothing is newer than the lock"]) + "\n")
    sys.stdout.flush()
    tests = [str(python), "-m", "pytest", "-q", *given.tests]
    return subprocess.run(tests, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
