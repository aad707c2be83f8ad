"""What this machine has, what works, what it costs, and whether a store is intact."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels.host import compile_cpu, n_cores
from pipeline import __version__
from pipeline.errors import StoreError, address_space_fault, said_by_system
from pipeline.model.progress import ProgressCallback, no_progress
from pipeline.model.words import GPU_PACKAGES, PACKAGES, number, size_text
from pipeline.places import url_of
from pipeline.places.command_lines import command_line
from pipeline.report.checking import check_report
from pipeline.report.names import REPORT
from pipeline.schedule.calibrate.file import save
from pipeline.schedule.calibrate.measure import Calibration, calibrate
from pipeline.schedule.gang.choice import explain
from pipeline.store import (
    bytes_of_snapshot,
    check_measured,
    check_replaced,
    check_store,
    has_store,
    leftovers,
    remove_leftovers,
)
from pipeline.store.references import FOLDER
from pipeline.store.results.mirrored import remove_segments
from pipeline.store.versions.names import VERSIONS, is_version

N_NAMED = 5  # damaged files of a report


@dataclass(frozen=True)
class Finding:
    """One thing examined; ``ok`` is False if something is broken, not if it is absent."""

    subject: str
    ok: bool
    text: str


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _packages() -> Finding:
    versions = {package: _version(package) for package in (*PACKAGES, "prefect")}
    missing = [package for package, version in versions.items() if version is None]
    text = ", ".join(f"{package} {version}" for package, version in versions.items() if version)
    if missing:
        text += f"; missing: {', '.join(missing)}: install with make"
    return Finding("packages", not missing, text)


def _gpus() -> Iterator[Finding]:
    """GPUs by the driver; the query makes no CUDA context in this process."""
    if shutil.which("nvidia-smi") is None:
        yield Finding("gpu", True, "no NVIDIA driver; searches run on CPU cores")
        return
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)
    except subprocess.TimeoutExpired:
        yield Finding("gpu", False, "nvidia-smi does not answer within 30 s")
        return
    if answer.returncode != 0:
        reason = (answer.stdout + answer.stderr).strip().splitlines()
        yield Finding(
            "gpu", False, f"nvidia-smi fails: {reason[0] if reason else 'no reason given'}"
        )
        return
    for gpu, line in enumerate(answer.stdout.strip().splitlines()):
        yield Finding(f"gpu {gpu}", True, line)
    yield Finding("partition", True, explain(_gpu_bytes(answer.stdout)))
    versions = {package: _version(package) for package in GPU_PACKAGES}
    missing = [package for package, version in versions.items() if version is None]
    text = ", ".join(f"{package} {version}" for package, version in versions.items() if version)
    if missing:
        text = (
            f"{', '.join(missing)} missing: a GPU is present but unused; install .[gpu] with make"
        )
    yield Finding("gpu packages", not missing, text)


def _gpu_bytes(lines: str) -> list[int]:
    """Memory of each GPU, from lines such as ``NVIDIA H200, 143771 MiB, 570.1``."""
    return [int(mib) << 20 for mib in re.findall(r", (\d+) MiB,", lines)]


def _kernels() -> Finding:
    try:
        seconds = compile_cpu()
    except Exception as error:  # whatever numba or the compiler says is the finding
        return Finding("cpu kernels", False, f"cannot be compiled: {error}")
    return Finding("cpu kernels", True, f"compiled or loaded in {seconds:.1f} s")


def _snapshots(store: Path, clean: bool) -> Iterator[Finding]:
    try:
        found = check_store(store)
    except StoreError as error:
        yield Finding(f"store {store}", False, str(error))
        return
    yield Finding(f"store {store}", True, number(len(found), "snapshot"))
    for name, fault in found.items():
        size = size_text(bytes_of_snapshot(store, name))
        yield Finding(f"snapshot {name}", not fault, fault or f"every byte unchanged, {size}")
    for name, (n_bytes, fault) in check_replaced(store).items():
        restore = command_line("restore", name, store=store)
        state = f"cannot be restored: {fault}" if fault else f"{restore} restores it"
        end = "removed" if clean else "the next replacement removes it, and so does --clean"
        yield Finding(f"replaced {name}", True, f"{size_text(n_bytes)}, {state}; {end}")


def _reports(store: Path | None, out: Path) -> Iterator[Finding]:
    """Each report: what is damaged, or else its space.

    Pages that are the same on several nights are one file on disk.
    """
    if url := url_of(out):
        yield Finding(f"reports {url}", True, "not checked: only reports in a folder are")
        return
    here = sorted(out.iterdir()) if out.is_dir() else ()
    folders = [folder for folder in here if (folder / REPORT).is_file()]
    if not folders:
        yield Finding("reports", True, f"none in {out} yet")
    for folder in folders:
        if faults := check_report(folder):
            yield Finding(f"report {folder.name}", False, _faults_in_words(store, folder, faults))
            continue
        files = _files(folder)
        own = sum(each.st_size for each in files if each.st_nlink == 1)
        shared = sum(each.st_size for each in files if each.st_nlink > 1)
        text = size_text(own) + (
            f", and {size_text(shared)} shared with other nights" if shared else ""
        )
        yield Finding(f"report {folder.name}", True, text)


def _faults_in_words(store: Path | None, folder: Path, faults: list[str]) -> str:
    more = f"; and {len(faults) - N_NAMED:,} more" if len(faults) > N_NAMED else ""
    words = ("analyze", "--snapshot", folder.name)
    command = command_line(*words, store=store or "DIR", out=folder.parent)
    remedy = f"move it away, then {command} writes it again"
    return f"{folder}: {'; '.join(faults[:N_NAMED])}{more}; {remedy}"


def _files(path: Path) -> list[os.stat_result]:
    """A file, or the files of a folder; those that a run removes meanwhile are left out."""
    found = [path] if not path.is_dir() else []
    for here, _, names in os.walk(path):
        found += [Path(here) / name for name in names]
    facts = []
    for file in found:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            facts.append(file.lstat())
    return facts


def _results(store: Path, clean: bool) -> Iterator[Finding]:
    """Results of runs: a file that cannot be read costs only that these are measured again.

    Nothing of a store that is not there or cannot be reached: it is a finding already.
    """
    try:
        found = check_measured(store)
    except StoreError:
        return
    if not found and not has_store(store):
        return
    size = sum(file.st_size for path in found for file in _files(path))
    text = f"{number(len(found), 'file')}, {size_text(size)}, of what runs have measured"
    yield Finding("results", True, text)
    for path, fault in found.items():
        if fault:
            is_removed, end = _removed(path) if clean else (False, "--clean removes it")
            text = f"{path}: cannot be used: {fault}; {end}"
            yield Finding(f"results {path.name}", is_removed, text)


def _removed(segment: Path) -> tuple[bool, str]:
    """Remove broken results; whether that was possible, and what to say of it."""
    try:
        remove_segments([segment])  # first at a URL: it would bring its copy here again
        segment.unlink(missing_ok=True)
    except OSError as error:
        return False, f"cannot be removed: {said_by_system(error)}"
    return True, "removed"


def _leftovers(store: Path | None, out: Path | None, clean: bool) -> Iterator[Finding]:
    """What no run uses any more: not a fault, but it takes space; the next run removes it."""
    for path in leftovers(store, out):
        size = sum(file.st_size for file in _files(path))
        if not os.path.lexists(path):  # somebody has removed it meanwhile
            continue
        end = "removed" if clean else "the next run removes it, and so does --clean"
        yield Finding("left-over", True, f"{path}: {_what_is_left(path)}, {size_text(size)}; {end}")
    if clean:
        remove_leftovers(store, out)


def _what_is_left(path: Path) -> str:
    if path.parent.name == VERSIONS and is_version(path.name):
        return "a version that was replaced while a run used it, or left by a killed run"
    if path.parent.name == FOLDER and not path.name.startswith("."):
        return "a baseline up to a night that was removed"
    return "left by a killed run"


def examine(
    store: Path | None, out: Path | None = None, *, clean: bool = False
) -> Iterator[Finding]:
    """Examine this machine, every byte of a store, and leftovers of killed runs; as it goes.

    With ``clean``, leftovers in ``store`` and ``out`` are removed, and versions that were replaced.
    """
    python = f"hopscope {__version__}, Python {platform.python_version()}, {platform.machine()}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield Finding("machine", True, f"{python}, {number(n_cores(), 'core')}, {memory:.0f} GiB")
    if fault := address_space_fault():
        yield Finding("limits", False, fault)
    yield _packages()
    yield from _gpus()
    yield _kernels()
    if store is not None:
        yield from _snapshots(store, clean)
        yield from _results(store, clean)
    if out is not None:
        yield from _reports(store, out)
    yield from _leftovers(store, out, clean)


def measure_machine(progress: ProgressCallback = no_progress) -> tuple[Calibration, Path]:
    """Measure what searches and tasks cost here, and keep the costs for later runs.

    Raises
    ------
    UsageError
        If the result cannot be kept.
    PipelineError
        If a measurement failed.
    """
    calibration = calibrate(progress)
    return calibration, save(calibration)
