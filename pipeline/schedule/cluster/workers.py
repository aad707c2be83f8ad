"""What workers of a cluster report about themselves, and whether they may take part."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

from distributed import Client

from kernels.host import Work, compile_cpu
from pipeline.errors import ClusterLostError, StoreError, UsageError
from pipeline.places import url_of
from pipeline.places.urls import is_url
from pipeline.schedule.cluster.fingerprint import MUST_AGREE, fingerprint
from pipeline.schedule.transport.remote.connection import ask
from pipeline.store import Snapshot

ANSWER_S = 20.0  # seconds for a scheduler to answer
PROBE_S = 60.0  # seconds for a worker to report about itself; it imports CuPy first
# A worker without our package says one of these, as an exception or as the text of one.
_NO_HOPSCOPE = ("ModuleNotFoundError", "ImportError", "AttributeError")
COMPILE_S = 900.0  # seconds for a worker to compile the kernels


def probe(snapshot: str | None) -> dict:
    """Executed on each worker of our Python and our distributed: what it says of itself."""
    facts: dict = {"host": socket.gethostname(), "pid": os.getpid(), "gpu": "", "gpu_bytes": 0}
    facts["fingerprint"] = fingerprint()
    try:
        import cupy

        if cupy.cuda.is_available():
            properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
            facts["gpu"] = properties["name"].decode()
            facts["gpu_bytes"] = int(properties["totalGlobalMem"])
    except Exception:  # no CuPy, or a driver that is too old: no GPU for us
        facts["gpu"] = ""
    facts["blind"] = "" if snapshot is None else _why_unseen(snapshot)
    return facts


def _why_unseen(snapshot: str) -> str:
    """Why this process cannot read a version of a snapshot; empty if it can."""
    if not is_url(snapshot):
        seen = os.path.isdir(snapshot)
        return "" if seen else "all workers must see the store under the same path"
    try:
        Snapshot.open_dir(snapshot).close()
    except StoreError as error:
        return str(error)
    return ""


def ask_scheduler(client: Client, call: Any, timeout_s: float) -> Any:
    """The scheduler's answer; UsageError if none comes in time, ClusterLostError if it is gone."""
    try:
        return ask(client, call, timeout_s)
    except TimeoutError:
        raise UsageError(
            f"the scheduler at {client.scheduler.address} does not answer "
            f"(within {timeout_s:.0f} s); check that it is running, or start another"
        ) from None
    except OSError as error:
        reason = str(error) or type(error).__name__
        raise ClusterLostError(
            f"the scheduler at {client.scheduler.address} is gone: {reason}"
        ) from None


def path_text(snapshot: Path | None) -> str | None:
    """The path or URL by which every worker must find the folder."""
    return None if snapshot is None else url_of(snapshot) or str(Path(snapshot).resolve())


async def ask_worker(client: Client, worker: str, path: str | None) -> dict:
    """The report of one worker about itself.

    First its versions of Python and distributed, as text: what one version pickles can crash a
    process of another. Then ``probe``, by its name: no code travels.

    Raises
    ------
    UsageError
        It does not answer, has other versions or no hopscope like ours; names the worker.
    """
    versions = {"op": "versions", "packages": ["distributed"]}
    asked = client.scheduler.broadcast(msg=versions, workers=[worker], on_error="ignore")
    reply = await _in_time(worker, asked)
    if not isinstance(reply, dict):
        raise UsageError(f"worker {worker} does not report its versions ({reply})")
    _check_versions(worker, reply.get("packages") or {})
    asked = client._run(probe, path, workers=[worker], on_error="return")
    answer = await _in_time(worker, asked)
    if isinstance(answer, Exception) and any(name in repr(answer) for name in _NO_HOPSCOPE):
        raise UsageError(
            f"worker {worker} cannot import hopscope ({answer}); "
            f"install hopscope {fingerprint()['hopscope']} there, in the worker's environment"
        )
    if not isinstance(answer, dict):
        raise UsageError(f"worker {worker} does not answer: {answer}")
    return answer


async def _in_time(worker: str, asked: Awaitable[dict]) -> Any:
    """A worker's part of an answer; UsageError if none comes."""
    try:
        return (await asyncio.wait_for(asked, PROBE_S)).get(worker)
    except TimeoutError:
        raise UsageError(
            f"worker {worker} does not answer: no answer within {PROBE_S:.0f} s"
        ) from None


def _check_versions(worker: str, packages: dict[str, str | None]) -> None:
    """UsageError unless Python and distributed of a worker are ours."""
    ours = fingerprint()
    python = ".".join(str(packages.get("python")).split(".")[:2])
    theirs = {"python": python, "distributed": packages.get("distributed")}
    for name, version in theirs.items():
        if version != ours[name]:
            raise UsageError(_differs(f"worker {worker}", name, version))


def _differs(where: str, name: str, version: str | None) -> str:
    return (
        f"{where} has {name} {version}, this process has {fingerprint()[name]}; "
        "install the same hopscope, with the same packages, on both"
    )


def ask_workers(client: Client, snapshot: Path | None) -> dict[str, dict]:
    """The reports of all workers; UsageError names one that does not answer."""
    path = path_text(snapshot)

    async def ask_all() -> dict[str, Any]:
        workers = sorted(await client.scheduler.ncores())
        asked = (ask_worker(client, worker, path) for worker in workers)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        return dict(zip(workers, answers, strict=True))

    facts = ask_scheduler(client, ask_all, PROBE_S + ANSWER_S)
    for worker, answer in facts.items():
        if isinstance(answer, UsageError):
            raise answer
        if isinstance(answer, BaseException):
            raise UsageError(f"worker {worker} does not answer: {answer}")
    if not facts:
        raise UsageError("all workers left before the run began; start new ones and try again")
    return facts


def compile_once_a_host(client: Client, facts: dict[str, dict], work: Sequence[Work]) -> None:
    """Workers of one host share numba's cache, which has no lock: one of them fills it first."""
    first = list({fact["host"]: worker for worker, fact in facts.items()}.values())
    answers = ask_scheduler(
        client, lambda: client._run(compile_cpu, work, workers=first, on_error="return"), COMPILE_S
    )
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise UsageError(f"worker {worker} cannot compile the kernels: {answer}")


def check_workers(facts: dict[str, dict], snapshot: Path | None) -> None:
    """UsageError that names a worker which differs from us or does not see the snapshot."""
    ours = fingerprint()
    for worker, fact in sorted(facts.items()):
        where = f"worker {worker} on {fact['host']}"
        theirs = fact["fingerprint"]
        for name in MUST_AGREE:
            if theirs.get(name) != ours[name]:
                raise UsageError(_differs(where, name, theirs.get(name)))
        if fact["blind"]:
            raise UsageError(f"{where} does not see {path_text(snapshot)}; {fact['blind']}")
