"""The file of a calibration: one JSON file per machine, in the user's cache or a given place.

``HOPSCOPE_CALIBRATION`` names the file; else it is ``calibration-<machine>.json`` in
``$XDG_CACHE_HOME/hopscope`` (``~/.cache/hopscope``), so that machines which share a home do not
take one another's; ``/dev/null`` asks for the defaults. A file that cannot be used is ignored
with a warning that says why: a run never fails because of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import platform
import stat
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import UsageError, said_by_system
from pipeline.files import replaced_whole
from pipeline.schedule.cluster.fingerprint import MUST_AGREE, fingerprint
from pipeline.schedule.cluster.gpus import gpu_models
from pipeline.schedule.plan.costs import DEFAULTS, LEAST_EACH_S, LEAST_S, Cost, Costs

if TYPE_CHECKING:
    from pipeline.schedule.calibrate.measure import Calibration

log = logging.getLogger(__name__)

VERSION = 1
MAX_BYTES = 64 << 10  # ours is 3 kB
# Seconds, and seconds per arc or a byte; what is beyond was not measured, and plans divide by some.
BOUNDS_S = (LEAST_S, 1e4)
BOUNDS_EACH_S = (LEAST_EACH_S, 1e-3)
ADVICE = "measure again with: hopscope doctor --calibrate"


class UnusableError(Exception):
    """Why a calibration file is not used."""


def machine() -> dict[str, Any]:
    """What a calibration is valid for: this machine, and the measured code."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "gpus": gpu_models(),
        "software": {name: fingerprint()[name] for name in MUST_AGREE},
    }


def path_of(here: dict[str, Any]) -> Path:
    """The file of a machine; after an update it is recognised as old."""
    if named := os.environ.get("HOPSCOPE_CALIBRATION"):
        return Path(named)
    key = json.dumps([here["cpu"], here["cores"], here["gpus"]])
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = f"calibration-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
    return Path(home) / "hopscope" / name


def save(calibration: Calibration) -> Path:
    """Store a calibration of this machine, atomically.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    here = machine()
    path = path_of(here)
    costs = asdict(calibration.costs)
    del costs["source"]
    if "gpu" not in calibration.devices:
        del costs["gpu"], costs["transfer_byte_s"]
    text = json.dumps(
        {
            "version": VERSION,
            "date": calibration.date,
            "machine": here,
            "costs": costs,
            "samples": [asdict(sample) for sample in calibration.samples],
        },
        indent=1,
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: it is not a file; set HOPSCOPE_CALIBRATION to another path")
        with replaced_whole(path, durable=True) as file:
            file.write(f"{text}\n".encode())
    except OSError as error:
        raise UsageError(
            f"{path}: the calibration cannot be written there ({said_by_system(error)}); "
            "set HOPSCOPE_CALIBRATION to a writable path"
        ) from None
    return path


def load() -> Costs:
    """Costs by this machine's calibration, else the defaults; ``source`` says which and why."""
    try:
        here = machine()
        path = path_of(here)
    except (OSError, RuntimeError) as error:  # no home, say
        log.debug("no place to keep a calibration: %s", error)
        return DEFAULTS
    if str(path) == os.devnull:
        return DEFAULTS
    try:
        return _costs(_read(path), here)
    except FileNotFoundError:
        if os.environ.get("HOPSCOPE_CALIBRATION"):
            log.warning("HOPSCOPE_CALIBRATION: %s does not exist; using defaults", path)
        return DEFAULTS
    except OSError as error:
        reason = said_by_system(error)
    except UnusableError as error:
        reason = str(error)
    log.warning("%s: the calibration is not used: %s; %s", path, reason, ADVICE)
    return Costs(**{**vars(DEFAULTS), "source": f"{DEFAULTS.source} ({path.name}: {reason})"})


def _read(path: Path) -> Any:
    """Content of a file of ours, of modest size; pipes and devices are not read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnusableError("it is not a regular file")
        if status.st_size > MAX_BYTES:
            raise UnusableError(
                f"it has {status.st_size:,} bytes, a calibration has at most {MAX_BYTES:,}"
            )
        content = file.read(MAX_BYTES + 1)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise UnusableError("it is not JSON") from None


def _costs(content: Any, here: dict[str, Any]) -> Costs:
    """The costs in a file's content, if it is a calibration of this machine and this code."""
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise UnusableError(f"it is not a calibration of version {VERSION}")
    theirs = content.get("machine")
    if not isinstance(theirs, dict):
        raise UnusableError("it names no machine")
    for name, text in (("cpu", "processor"), ("cores", "cores"), ("gpus", "GPUs")):
        if theirs.get(name) != here[name]:
            raise UnusableError(
                f"it was made on another machine ({text}: {_shown(theirs.get(name))}, "
                f"here {_shown(here[name])})"
            )
    if theirs.get("software") != here["software"]:
        raise UnusableError("it is from another version of hopscope or of its packages")
    date, costs = content.get("date"), content.get("costs")
    if not isinstance(date, str) or not isinstance(costs, dict):
        raise UnusableError("it has no date or no costs")
    source = f"calibration of {_shown(date)}"
    if "gpu" in costs:
        gpu, transfer_byte_s = _cost(costs, "gpu"), _seconds(costs, "transfer_byte_s")
    else:
        gpu, transfer_byte_s = DEFAULTS.gpu, DEFAULTS.transfer_byte_s
        source += f"; gpu: {DEFAULTS.source}"
    return Costs(
        cpu=_cost(costs, "cpu"),
        gpu=gpu,
        transfer_byte_s=transfer_byte_s,
        task_s=_seconds(costs, "task_s"),
        source=source,
    )


def _cost(costs: dict, device: str) -> Cost:
    mine = costs.get(device)
    if not isinstance(mine, dict):
        raise UnusableError(f"it has no costs for a {device}")
    names = ("search_s", "search_arc_s", "sweep_s", "sweep_arc_s")
    return Cost(*(_seconds(mine, name) for name in names))


def _seconds(costs: dict, name: str) -> float:
    value = costs.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnusableError(f"{name} is not a number")
    least, most = BOUNDS_EACH_S if name.endswith(("arc_s", "byte_s")) else BOUNDS_S
    if not least <= value <= most:  # nor NaN
        raise UnusableError(f"{name} is {_shown(value)}, not a time of {least:g} to {most:g} s")
    return float(value)


def _shown(value: Any) -> str:
    """A foreign value for a message: short, printable."""
    text = "".join(c if c.isprintable() else "?" for c in str(value))
    return text if len(text) <= 60 else text[:57] + "..."


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
