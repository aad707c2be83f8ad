"""A copy of the project in which one module at a time is another, and its tests run."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.oracles.mutants.rooms import Mutant, stages_of
from tests.real_data import ROOT as REAL_DATA

NOTICED, TIMED_OUT, SURVIVED = "noticed", "timed out", "survived"
UNTESTED = "untested"  # there are no tests, or they fail without any change
SURVIVED_NEAR = "survived the nearest tests"  # there was no time for those of its room
STARTING_S, OF_A_FILE_S = 60.0, 15.0  # what tests may take to start, and each file of them: more
# than any of these rooms takes on a busy machine
COMPILING_S = 60.0  # what compiling callers of a changed function may take
MEMORY = 12 * 2**30  # a mutant that asks for more fails
FILE_SIZE = 2**30


@dataclass
class Copy:
    """The project in a temporary folder.

    ``compiled`` is where numba keeps its files. Of tests that a mutant failed, ``passing`` pass
    without any change, and ``failing`` do not: those are left out from then on.
    """

    root: Path
    compiled: Path
    passing: set[str] = field(default_factory=set)
    failing: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, project: Path, folder: Path, compiled: Path | None = None) -> Copy:
        """Copy what git tracks, and what it would, and compile all of it for Python."""
        words = ["git", "-C", str(project), "ls-files", "-z", "-co", "--exclude-standard"]
        names = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        root = folder / "project"
        for name in filter(None, names.split("\0")):
            if (project / name).is_file():  # one that is deleted is tracked still
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, root / name)
        # Checked by content: of two mutants made within a second, one might be taken for the other.
        words = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode=checked-hash", "."]
        subprocess.run(words, cwd=root, check=False, capture_output=True)
        return cls(root, compiled or folder / "compiled")

    def judge(
        self, mutant: Mutant, stages: slice = slice(None), until: float = float("inf")
    ) -> tuple[str, str]:
        """What becomes of a mutant, and the test that noticed it first or "".

        ``stages`` says which of ``stages_of``: the first alone, or those that are wider. ``until``
        is when to stop, by ``time.monotonic``: what is not noticed then has survived the nearest.
        """
        path = self.root / mutant.path
        text = path.read_text()
        every = stages_of(self.root, mutant.room, mutant.path)
        changed = mutant.site.put(text, mutant.after)
        for files in every[stages]:
            limit_s = STARTING_S + OF_A_FILE_S * len(files)
            limit_s += COMPILING_S if "numba" in text else 0.0
            known = len(self.failing) - 1
            while known < len(self.failing):  # again without what fails without any change
                known = len(self.failing)
                path.write_text(changed)
                left_s = until - time.monotonic()
                try:
                    code, said = self._pytest(files, min(limit_s, left_s), "-x")
                finally:
                    path.write_text(text)
                if code is None and left_s < limit_s:
                    return SURVIVED_NEAR, ""
                if code in (0, 5):  # 5: all tests are left out
                    break
                all_of_it = str(files[0] if len(files) == 1 else files[0].parent)
                name = all_of_it if code is None else _first_failure(said)
                if self._passes(name or all_of_it, limit_s, or_ends=not name or code is None):
                    return (TIMED_OUT if code is None else NOTICED), name or f"pytest: {code}"
            else:
                return UNTESTED, name
        if not every:
            return UNTESTED, ""
        return (SURVIVED if every[stages][-1:] in ([], every[-1:]) else SURVIVED_NEAR), ""

    def _passes(self, name: str, limit_s: float, *, or_ends: bool = False) -> bool:
        """Whether a test, or a file or folder of them, passes (or ends) without any change."""
        if name not in self.passing and name not in self.failing:
            code, _ = self._pytest([Path(name)], limit_s)
            if code == 0 or (or_ends and code is not None):
                self.passing.add(name)
            else:
                self.failing.append(name)
        return name in self.passing

    def _pytest(
        self, files: Sequence[Path], limit_s: float, *options: str
    ) -> tuple[int | None, str]:
        """Exit status, None where the time was over, and what was said."""
        scratch = self.root.parent / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "home").mkdir(parents=True)
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line"]
        words += [*options, *(f"--deselect={one}" for one in self.failing), *map(str, files)]
        output = self.root.parent / "output.txt"
        with output.open("w") as stream:
            process = subprocess.Popen(
                words,
                cwd=self.root,
                env=self._environment(scratch),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limits,
            )
            try:
                code = process.wait(max(0.0, limit_s))
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # what tests have started, too
                process.wait()
        return code, output.read_text(errors="replace")

    def _environment(self, scratch: Path) -> dict[str, str]:
        named = {
            "HOME": str(scratch / "home"),
            "TMPDIR": str(scratch),
            "PYTHONPATH": str(self.root),
            "HOPSCOPE_REAL_DATA": str(REAL_DATA),
            # Filed by what decides the compiled code, so callers of what a mutant changes are
            # compiled, too (``kernels.compiled``).
            "NUMBA_CACHE_DIR": str(self.compiled),
        }
        return {**os.environ, **named}


def _limits() -> None:
    """What a mutant may use: a wrong size or a loop without an end takes all that there is."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _first_failure(said: str) -> str:
    for line in said.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 1)[1].split(" - ")[0]
    return ""
