"""Record what a benchmark measured, with everything needed to repeat it."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "benchmarks" / "results"
PACKAGES = ("numpy", "numba", "pyarrow", "orjson", "dask", "distributed", "prefect", "cupy-cuda13x")


def record(
    subject: str, rows: Iterable[Mapping[str, Any]], folder: Path | None = None, **more: Any
) -> Path:
    """Write benchmarks/results/<subject>.json and print each row.

    Parameters
    ----------
    subject : str
        What was measured, and on what where that matters: ``ingest``, ``searches_gpu``.
    rows : iterable of mappings
        One mapping per figure or set of them; units are part of the names (``wall_s``).
    folder : Path, optional
        Where to write instead.
    **more
        Further facts of the whole run.

    Returns
    -------
    Path
        The file written.
    """
    rows = [dict(row) for row in rows]
    text = json.dumps(
        {
            "subject": subject,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "command": _command(),
            "commit": _commit(),
            "machine": machine(),
            "versions": _versions(),
            **more,
            "rows": rows,
        },
        indent=1,
        default=_plain,
    )
    folder = folder or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{subject}.json"
    path.write_text(text + "\n")
    for row in rows:
        print(json.dumps(row, default=_plain))
    return path


def machine() -> dict[str, Any]:
    """Processor, cores, memory and GPUs of this machine."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "gpus": _gpus(),
    }


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's; everything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _gpus() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _commit() -> str:
    """The commit that ran; ``+`` where tracked files differ from it, "" outside a checkout."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _command() -> str:
    """The command as typed; files from elsewhere only by name."""
    program = Path(sys.argv[0])
    words = [f"benchmarks/{program.name}"]
    at = program.resolve().with_suffix("")
    is_module = at.name == "__main__" or not at.is_relative_to(REPOSITORY / "benchmarks")
    if at.is_relative_to(REPOSITORY) and is_module:
        at = at.parent if at.name == "__main__" else at
        words = ["-m", ".".join(at.relative_to(REPOSITORY).parts)]
    for word in sys.argv[1:]:
        path = Path(word)
        is_ours = path.resolve().is_relative_to(REPOSITORY)
        words.append(word if is_ours or "/" not in word else path.name)
    return "python " + shlex.join(words)
