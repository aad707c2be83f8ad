"""Tries the wheels of a folder: ``python3 -m deploy.trial DIST [PYTHON...]``.

Each in an environment of its own, whose packages no one can write, as a user who never used it
(for root: as nobody, and without network), with the first of the given Pythons whose code the wheel
has; without one, or where that cannot be had, this is said. What is run must compile nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_NOBODY = 65534
_WHEEL = re.compile(r"-cp3(\d+)-none-")
_TRIED = """
import json, pathlib, sys, time

began = time.perf_counter()
import numpy as np
import kernels
from numba.core import event

compiled = event.RecordingListener()
event.register("numba:compile", compiled)
path = kernels.CSRGraph.from_edges([0, 1, 2], [1, 2, 3], symmetrise=True)
assert kernels.bfs(path, 0).level.tolist() == [0, 1, 2, 3]
searched = time.perf_counter() - began
import deploy_rehearsal
folder = pathlib.Path(sys.argv[1])
began = time.perf_counter()
deploy_rehearsal.rehearse(folder)
names = [str(one.data["dispatcher"]) for _, one in compiled.buffer if one.is_start]
print(json.dumps([searched, time.perf_counter() - began, names, kernels.__file__]))
"""


_ALONE = 'ip link set lo up && exec "$@"'  # workers are at 127.0.0.1


class TrialError(Exception):
    """A wheel does not do what it should."""


def try_wheel(wheel: Path, python: str, root: Path) -> str:
    """Install a wheel for a Python, use all of it; what is to be said of that.

    Raises
    ------
    TrialError
        Something failed, or was compiled.
    """
    with tempfile.TemporaryDirectory(prefix="hopscope-trial-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        _run([python, "-m", "venv", str(folder / "venv")])
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)]
        _run([str(folder / "venv/bin/python3"), *install])
        _run(["chmod", "-R", "a-w", str(folder / "venv")])
        for name in ("home", "samples"):
            (folder / name).mkdir()
        _run(
            ["cp", "-r", *map(str, (root / "data" / "samples").iterdir()), str(folder / "samples")]
        )
        text = (root / "deploy" / "rehearsal.py").read_text()
        text = text.replace(
            'Path(__file__).parents[1] / "data" / "samples"', f"Path({str(folder / 'samples')!r})"
        )
        (folder / "deploy_rehearsal.py").write_text(text)
        _run(["chmod", "-R", "a+rX", str(folder / "samples")])
        words, by = [str(folder / "venv/bin/python3")], "this user"
        if hasattr(os, "getuid") and os.getuid() == 0:
            as_nobody = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
            by = "this user: nobody cannot start this Python"
            if not subprocess.run([*as_nobody, *words, "-c", ""], cwd="/", check=False).returncode:
                words, by = [*as_nobody, *words], "nobody"
                _run(["chown", str(_NOBODY), str(folder / "home")])
            alone = ["unshare", "--net", "sh", "-c", _ALONE, "sh"]
            with contextlib.suppress(OSError):
                done = subprocess.run([*alone, "true"], capture_output=True, check=False)
                if not done.returncode:
                    words, by = [*alone, *words], f"{by}, without network"
        done = subprocess.run(
            [*words, "-c", _TRIED, str(folder / "home")],
            cwd=folder / "home",
            env={"HOME": str(folder / "home"), "PATH": os.defpath, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise TrialError(f"{wheel.name}: {done.stderr[-2000:]}")
        searched, rehearsed, compiled, _ = json.loads(done.stdout.splitlines()[-1])
    if compiled:
        raise TrialError(f"{wheel.name} compiles {len(compiled)} functions: {compiled[:9]}")
    return f"tried as {by}: first search {searched:.1f} s, all of it {rehearsed:.1f} s"


def _run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TrialError(f"{' '.join(words)}: {done.stderr[-2000:]}")


def python_for(wheel: Path, pythons: list[str]) -> str | None:
    """The first of these that is of the version that a wheel is for; None if none is."""
    minor = _WHEEL.search(wheel.name)
    for python in pythons:
        asked = [python, "-c", "import sys; print(sys.version_info[1])"]
        try:
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
        except OSError:  # there is none
            continue
        if minor is not None and done.stdout.strip() == minor[1]:
            return python
    return None


def main(dist: Path, pythons: list[str]) -> int:
    """Try each wheel with compiled code; 1 if one failed."""
    status = 0
    for wheel in sorted(dist.glob("*-none-manylinux*.whl")):
        python = python_for(wheel, pythons)
        try:
            said = "not tried: there is no such Python here"
            if python is not None:
                sys.stderr.write(f"trying {wheel.name}: installing it takes minutes\n")
                said = try_wheel(wheel, python, Path(__file__).parents[1])
        except TrialError as error:
            said, status = f"FAILED: {error}", 1
        sys.stdout.write(f"{wheel.name}: {said}\n")
    for wheel in sorted(dist.glob("*-py3-none-any.whl")):
        sys.stdout.write(f"{wheel.name}: not tried: for other Pythons, without compiled code\n")
    return status


if __name__ == "__main__":
    others = [f"python3.{minor}" for minor in range(11, 15)]
    sys.exit(main(Path(sys.argv[1]), [*sys.argv[2:], *others]))
