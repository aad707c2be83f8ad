"""A copy of the project in which one module at a time is another, and its tests run."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.oracles.mutants.compiled import FOLDER
from tests.oracles.mutants.rooms import Mutant, stages_of
from tests.real_data import ROOT as REAL_DATA

NOTICED, TIMED_OUT, SURVIVED, UNTESTED = "noticed", "timed out", "survived", "untested"
SURVIVED_NEAR = "survived the nearest tests"  # there was no time for those of its room
SLOWER = 4  # times what the unchanged tests took, beside what starting them takes, is too long
STARTING_S = 30.0
COMPILING_S = 60.0  # what compiling callers of a changed function may take
MEMORY = 12 * 2**30  # a mutant that asks for more fails
FILE_SIZE = 2**30


class BaselineError(Exception):
    """The tests cannot be run without any change."""


@dataclass
class Copy:
    """The project in a temporary folder.

    ``failing`` are tests that fail without any change here, and are left out; ``took_s`` is what
    each file of tests that was needed so far took; ``compiled`` is where numba keeps its files.
    """

    root: Path
    compiled: Path
    failing: list[str] = field(default_factory=list)
    took_s: dict[Path, float] = field(default_factory=dict)

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

    def measure(self, files: Sequence[Path]) -> None:
        """Run tests without any change; of files that were not measured before."""
        files = [path for path in files if path not in self.took_s]
        if not files:
            return
        self.took_s |= dict.fromkeys(files, 0.0)
        report = self.root.parent / "baseline.xml"
        code, said = self._pytest(files, None, f"--junitxml={report}", writes=True)
        if code == 5:  # a file of tests for other machines
            return
        if code not in (0, 1):
            raise BaselineError(f"{files[0].parent}: pytest ended with {code}:\n{said[-2000:]}")
        for case in ET.parse(report).iter("testcase"):
            file = _file_of(self.root, case.attrib["classname"])
            self.took_s[file] = self.took_s.get(file, 0.0) + float(case.attrib["time"])
            if case.find("failure") is not None or case.find("error") is not None:
                within = case.attrib["classname"].removeprefix(_dotted(file)).strip(".")
                names = [str(file), *filter(None, within.split(".")), case.attrib["name"]]
                self.failing.append("::".join(names))

    def judge(self, mutant: Mutant, stages: slice = slice(None)) -> tuple[str, str]:
        """What becomes of a mutant, and the test that noticed it first or "".

        ``stages`` says which of ``stages_of``: the first alone, or those that are wider.
        """
        path = self.root / mutant.path
        text = path.read_text()
        every = stages_of(self.root, mutant.room, mutant.path)
        changed = mutant.site.put(text, mutant.after)
        path.write_text(changed)
        try:
            for files in every[stages]:
                if any(one not in self.took_s for one in files):
                    path.write_text(text)
                    self.measure(files)
                    path.write_text(changed)
                limit_s = STARTING_S + SLOWER * sum(self.took_s.get(one, 0.0) for one in files)
                limit_s += COMPILING_S if "numba" in text else 0.0
                code, said = self._pytest(files, limit_s, "-x")
                if code is None:
                    return TIMED_OUT, str(files[0] if len(files) == 1 else files[0].parent)
                if code not in (0, 5):  # 5: all tests are left out
                    return NOTICED, _first_failure(said) or f"pytest ended with {code}"
        finally:
            path.write_text(text)
        if not every:
            return UNTESTED, ""
        return (SURVIVED if every[stages][-1:] in ([], every[-1:]) else SURVIVED_NEAR), ""

    def _pytest(
        self, files: Sequence[Path], limit_s: float | None, *options: str, writes: bool = False
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
                env=self._environment(scratch, writes),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limits,
            )
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # what tests have started, too
                process.wait()
        return code, output.read_text(errors="replace")

    def _environment(self, scratch: Path, writes: bool) -> dict[str, str]:
        named = {
            "HOME": str(scratch / "home"),
            "TMPDIR": str(scratch),
            "PYTHONPATH": str(self.root),
            "HOPSCOPE_REAL_DATA": str(REAL_DATA),
            "NUMBA_CACHE_DIR": str(self.root.parent / "numba"),  # markers of what is compiled
            "NUMBA_CACHE_LOCATOR_CLASSES": "tests.oracles.mutants.compiled.Locator",
            FOLDER: str(self.compiled),
            "PYTHONDONTWRITEBYTECODE": "" if writes else "1",
        }
        return {**os.environ, **named}


def _limits() -> None:
    """What a mutant may use: a wrong size or a loop without an end takes all that there is."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _dotted(file: Path) -> str:
    return ".".join(file.with_suffix("").parts)


def _file_of(root: Path, dotted: str) -> Path:
    """The file of tests in the name of a class, ``tests.unit.kernels.test_csr.TestOfIt``."""
    place = Path(*dotted.split("."))
    for one in (place, *place.parents):
        if (root / one).with_suffix(".py").is_file():
            return one.with_suffix(".py")
    return place


def _first_failure(said: str) -> str:
    for line in said.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 1)[1].split(" - ")[0]
    return ""
