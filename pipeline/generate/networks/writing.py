"""A network in a folder: its traces, the truth, and the files beside it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.generate.networks.files import write_files
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.plan import Plan
from pipeline.generate.networks.probing import STOP_REASONS
from pipeline.generate.networks.texts import MOST_OF_HOP, MOST_OF_TRACE, put_traces
from pipeline.generate.networks.tracing import Campaign, Part

_LEVEL = 1  # of gzip


class TraceForm(NamedTuple):
    """A format of traces.

    Attributes
    ----------
    suffix : str
        Of files.
    encode : callable
        A campaign, a part, a vantage point and the number of a method -> their traces.
    beginning, ending : callable or None
        A campaign, a vantage point and the number of a method -> what a file begins and ends with.
    """

    suffix: str
    encode: Callable[[Campaign, Part, int, int], bytes | memoryview]
    beginning: Callable[[Campaign, int, int], bytes] | None = None
    ending: Callable[[Campaign, int, int], bytes] | None = None


def scamper_json(campaign: Campaign, part: Part, v: int, method: int) -> memoryview:
    """Lines of JSON as scamper writes them."""
    traces, rows = part.traces, part.rows[v, method]
    n_hops = int((traces.hop_ptr[rows + 1] - traces.hop_ptr[rows]).sum())
    text = np.empty(MOST_OF_TRACE * len(rows) + MOST_OF_HOP * n_hops, np.uint8)
    name = np.frombuffer(campaign.method_of(v, method).encode(), np.uint8)
    n = put_traces(
        text, traces, rows, campaign.src[v], campaign.targets.addr, part.starts[v, method], name,
        _REASONS_PTR, _REASONS, campaign.network.plan.ipv6,
    )  # fmt: skip
    return text[:n].data


_REASONS_PTR = np.cumsum([0, *map(len, STOP_REASONS)])
_REASONS = np.frombuffer("".join(STOP_REASONS).encode(), np.uint8)
SCAMPER = TraceForm(".json.gz", scamper_json)


def write_traces(
    campaign: Campaign,
    folder: Path,
    form: TraceForm = SCAMPER,
    *,
    n_threads: int | None = None,
    told: Callable[[int], None] = lambda n: None,
) -> list[Path]:
    """A file for each vantage point and method, in gzip.

    A file has several members, one for each part of the traces; readers take them as one.
    ``told``: called with the number of traces that were written so far.
    """

    def pack(part: Part) -> tuple[int, dict[tuple[int, int], bytes]]:
        packed = {key: _gzipped(form.encode(campaign, part, *key)) for key in part.rows}
        return sum(map(len, part.rows.values())), packed

    names = {
        (v, at): folder / f"{vantage.name}.{campaign.method_of(v, at)}{form.suffix}"
        for v, vantage in enumerate(campaign.network.vantages)
        for at in range(len(campaign.methods))
    }
    for key, path in names.items():
        path.write_bytes(_gzipped(form.beginning(campaign, *key) if form.beginning else b""))
    done = 0
    for n, packed in campaign.run(pack, n_threads):
        for key, data in packed.items():
            _append(names[key], data)
        done += n
        told(done)
    if form.ending is not None:
        for key, path in names.items():
            _append(path, _gzipped(form.ending(campaign, *key)))
    return list(names.values())


def _gzipped(data: bytes | memoryview) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def make_network(plan: Plan, folder: Path, n_traces: int | None = None) -> str:
    """Draw a network, trace through it and write it all; returns it in words."""
    folder.mkdir(parents=True, exist_ok=True)
    network = Network(plan)
    campaign = Campaign(network, n_traces)
    write_traces(campaign, folder)
    write_files(network, campaign.delays, folder)
    return (
        f"{plan.name}, seed {plan.seed}: {len(network.asn_of)} routers,"
        f" {len(network.ases.tier)} ASes, {len(network.links)} links, {campaign.n_traces} traces"
    )
