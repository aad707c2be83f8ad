"""A network of known truth in a folder: what its vantage points measure, tables and the truth."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from pipeline import __version__
from pipeline.config.generate import GenerateConfig, orders_of, plan_of
from pipeline.errors import UsageError, said_by_system
from pipeline.generate.networks.files import write_files
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.planting.series import Series, date_of
from pipeline.generate.networks.probing import ECHO_REPLY, STOP_REASONS, TIME_EXCEEDED, UNREACHABLE
from pipeline.generate.networks.tracing import Campaign, Part
from pipeline.generate.networks.writing import SCAMPER, TraceForm, write_traces
from pipeline.model.measured.traces import (
    CLASSIC_TRACE,
    KIND_ECHO_REPLY,
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    METHODS,
    STOPS,
    Probing,
    TraceBatch,
)
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.words import number as number_of
from pipeline.places.command_lines import as_word
from pipeline.places.urls import is_url, redacted
from pipeline.stages.places import check_link

_KIND = np.zeros(256, np.uint8)
_KIND[[TIME_EXCEEDED, UNREACHABLE, ECHO_REPLY]] = (
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    KIND_ECHO_REPLY,
)
_STOP = np.array([STOPS.index(each) for each in STOP_REASONS], np.uint8)
TABLES = (  # options of ``run``, and the files for them
    ("ip2as", "lab.pfx2as"),
    ("as-rel", "lab.as-rel.txt"),
    ("as2org", "lab.as2org.txt"),
    ("ixp", "lab.peeringdb.json"),
    ("delegated", "lab.delegated"),
)
LOCATIONS = "lab.locations.csv"
_METHOD = {"icmp-paris": "icmp-echo-paris"}  # as scamper's tools call it
README, PLANTS = "README.txt", "plants.json"


def generate_network(config: GenerateConfig, progress: ProgressCallback = no_progress) -> list[str]:
    """Draw a network, trace through it, and write a folder; returns lines that say what and where.

    Raises
    ------
    UsageError
        If options do not go together, a number is out of range or asks for more than there is, or
        the folder is there already or cannot be written.
    """
    started = time.time()
    plan = plan_of(config)
    out = _checked(config)
    progress(Progress("generate", 0, 1, "network", plan.name))
    try:
        network = Network(plan)
    except ValueError as error:  # address space or numbers of ASes are used up
        raise UsageError(f"--kind {config.kind}: {error}") from None
    progress(Progress("generate", 1, 1, "network", plan.name))
    n_hosts = len(network.vantages)
    is_given = any(word.startswith("n_vantage_points=") for word in config.share)
    if (is_given or config.vantage_points is not None) and n_hosts < plan.n_vantage_points:
        raise UsageError(
            f"--vantage-points {plan.n_vantage_points}: there are {n_hosts} ASes with an open "
            "network of customers to measure from; give fewer, or more ASes"
        )
    n_nights = config.nights or 1
    try:
        series = Series(network, config.traces, n_nights, orders_of(config))
    except ValueError as error:  # something finds no place
        raise UsageError(f"--plant {error}") from None
    aside = out.with_name(f".{out.name}-{secrets.token_hex(4)}")
    try:
        aside.mkdir(parents=True)
        n_traces = 0
        for number in range(1, n_nights + 1):
            folder = aside / date_of(number) if config.nights else aside
            folder.mkdir(exist_ok=True)
            n_traces += _write_night(series, number, folder, config, progress)
            if config.nights:
                (folder / README).write_text(_about_night(series, number))
        about = _about(config, network, n_traces)
        if config.nights:
            about += _about_nights(series)
            (aside / PLANTS).write_text(json.dumps(series.truth(), indent=1) + "\n")
        (aside / README).write_text(about)
        os.rename(aside, out)  # an empty folder is replaced; another is not
    except BaseException as error:
        with suppress(OSError):
            shutil.rmtree(aside)
        if isinstance(error, OSError):
            raise UsageError(f"{out}: cannot be written: {said_by_system(error)}") from None
        raise
    made = (
        f"{number_of(len(network.ases.tier), 'AS')}, {number_of(len(network.asn_of), 'router')}, "
        f"{number_of(len(network.links), 'link')}, {number_of(n_traces, 'trace')} from "
        f"{number_of(n_hosts, 'vantage point')} -> {out} ({time.time() - started:.1f} s)"
    )
    if config.nights:
        return [made, *_next_of_nights(series, out)]
    place = as_word(out)
    judge = shlex.join(["hopscope", "judge", f"{place}-store", place])
    return [made, f"next: {run_command(out)}", f"then: {judge}"]


def _write_night(
    series: Series, number: int, folder: Path, config: GenerateConfig, progress: ProgressCallback
) -> int:
    """Write a night's files; returns the number of its traces."""
    campaign = series.campaign(number)
    name = date_of(number) if config.nights else "traces"

    def told(done: int) -> None:
        progress(Progress("generate", done, campaign.n_traces, name))

    told(0)
    write_traces(campaign, folder, _form(config), told=told)
    progress(Progress("save", 0, 1, "tables"))
    write_files(campaign.network, campaign.delays, folder, series.network)
    progress(Progress("save", 1, 1, "tables"))
    return campaign.n_traces


def _next_of_nights(series: Series, out: Path) -> list[str]:
    """What was planted, and the commands that analyze such folders and compare two of them."""
    told = []
    for each in series.planted:
        where = ", ".join([*(f"AS{asn}" for asn in sorted(each.plant.asns)), each.plant.place])
        until = "" if each.order.stays else f" to {date_of(each.order.last)}"
        about = where.removesuffix(", ") or "several ASes"
        pairs = number_of(len(each.plant.pairs), "pair")
        told.append(
            f"planted: {each.order.what}, {date_of(each.order.first)}{until}: {about}, {pairs}"
        )
    turns = sorted({turn for each in series.planted for turn in each.order.turns})
    second = next((turn for turn in turns if turn <= series.n_nights), min(2, series.n_nights))
    nights = [date_of(max(1, second - 1)), date_of(second)]
    place = as_word(out)
    store = ["--store", f"{place}-store", "--out", f"{place}-report"]
    compare = shlex.join(["hopscope", "compare", *nights, *store])
    given = [f'--{name} "${{night}}{file}"' for name, file in (*TABLES, ("locations", LOCATIONS))]
    run = " ".join(["hopscope", "run", '"$night"', shlex.join(store), *given])
    then = [f"then: {compare}"] if series.n_nights > 1 else []
    loop = f"for night in {shlex.quote(place)}/*/; do {run}; done"
    return [*told, f"next: {loop}", *then]


def _checked(config: GenerateConfig) -> Path:
    """The folder, which is not there yet, or is empty."""
    out = config.out
    if out is None:
        raise UsageError("--traces needs --out FOLDER, where traces, tables and the truth go")
    if is_url(str(out)):
        raise UsageError(
            f"--out takes a folder on this machine's disks, not {redacted(str(out))!r}"
        )
    check_link(out)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: give a folder")
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"--out {out} is not empty: give another folder")
    parent = next(each for each in out.absolute().parents if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise UsageError(f"--out {out}: {parent} is not a folder that can be written")
    return out


def command_of(config: GenerateConfig) -> str:
    """The command that makes this network again, but for its folder."""
    words = ["hopscope", "generate", "internet", "--traces", str(config.traces)]
    if config.vantage_points is not None:
        words += ["--vantage-points", str(config.vantage_points)]
    words += ["--kind", config.kind]
    if "ases" in config.said:
        words += ["--ases", str(config.ases)]
    words += ["--seed", str(config.seed)]
    for share in config.share:
        words += ["--share", share]
    if config.nights is not None:
        words += ["--nights", str(config.nights)]
    for plant in config.plant:
        words += ["--plant", plant]
    if config.format != "scamper":
        words += ["--format", config.format]
    return shlex.join(words)


def run_command(out: Path) -> str:
    """The command that analyzes such a folder with everything that lies in it."""
    place = as_word(out)
    words = ["hopscope", "run", place, "--store", f"{place}-store", "--out", f"{place}-report"]
    for option, name in TABLES:
        words += [f"--{option}", f"{place}/{name}"]
    return shlex.join(words)


def _about(config: GenerateConfig, network: Network, n_traces: int) -> str:
    return f"""A network of known truth and what its vantage points measured of it.
Nothing here was measured in a real network.

Made by hopscope {__version__}:
  {command_of(config)} --out FOLDER
{len(network.ases.tier):,} ASes, {len(network.asn_of):,} routers, {len(network.links):,} links,
{n_traces:,} traces from {len(network.vantages):,} vantage points.

h*{_form(config).suffix}  traces, a file for each vantage point and method
targets.txt          what was traced first in each block
lab.pfx2as           prefixes and the ASes that originate them
lab.as-rel.txt       relationships of ASes, CAIDA's serial-1
lab.as2org.txt       organisations of ASes
lab.ixp.txt          peering LANs of exchange points
lab.peeringdb.json   exchange points and their members, as PeeringDB's API
lab.delegated        delegations, as a registry's extended file
lab.aliases.nodes    true alias sets, ITDK nodes format
lab.names.tsv        host names of addresses; stale_names.json: those that are out of date
lab.name-rules.jsonl rules that read ASes from these names
lab.locations.csv    places of addresses
ground_truth.json    the truth: routers, links, addresses, ASes, what answers how; the plan
"""


def _about_nights(series: Series) -> str:
    planted = "".join(f"  {each.order.text}  {each.facts['says']}\n" for each in series.planted)
    return (
        f"""
These files are in a folder for each of {series.n_nights:,} nights. Between nights nothing differs
but chance (who answers, delays), and what was planted: {PLANTS} says what, where and when.
Relationships, host names and places were gathered before the first night.

Planted:
{planted or "  nothing"}
""".rstrip()
        + "\n"
    )


def _about_night(series: Series, number: int) -> str:
    there = "".join(
        f"  {each.order.text}  {each.facts['says']}\n"
        for each in series.planted
        if each.order.first <= number <= each.order.last
    )
    return f"""Night {number:,} of {series.n_nights:,} of a network of known truth.
../{README} says what the files are, ../{PLANTS} what is planted and where.

On this night:
{there or "  nothing is planted" + chr(10)}"""


def _form(config: GenerateConfig) -> TraceForm:
    if config.format == "scamper":
        return SCAMPER
    from pipeline.writers import warts  # compiled code, which JSON does not need

    def begin(campaign: Campaign, v: int, method: int) -> bytes:
        host = campaign.network.vantages[v].name
        return warts.beginning(float(campaign.start_s), config.kind, host)

    def end(campaign: Campaign, v: int, method: int) -> bytes:
        return warts.ending(float(campaign.end_s(v)))

    def encode(campaign: Campaign, part: Part, v: int, method: int) -> memoryview:
        return warts.records(batch_of(campaign, part, v, method))[0]

    return TraceForm(".warts.gz", encode, begin, end)


def batch_of(campaign: Campaign, part: Part, v: int, method: int) -> TraceBatch:
    """Traces of a part by a vantage point and method, as columns."""
    traces, rows = part.traces, part.rows[v, method]
    n_replies = traces.hop_ptr[rows + 1] - traces.hop_ptr[rows]
    ptr = np.concatenate([[0], np.cumsum(n_replies)])
    at = np.arange(ptr[-1]) + np.repeat(traces.hop_ptr[rows] - ptr[:-1], n_replies)
    name = campaign.method_of(v, method)
    kind = traces.icmp_type[at]
    icmp = kind.astype(np.int32) << 8
    icmp[kind == UNREACHABLE] += 1  # host unreachable
    if campaign.network.plan.ipv6:
        icmp = np.select(
            [kind == TIME_EXCEEDED, kind == UNREACHABLE], [3 << 8, 1 << 8 | 3], 129 << 8
        )
    is_classic = "paris" not in name
    return TraceBatch(
        src_addr=np.repeat(campaign.src[v : v + 1], len(rows), axis=0),
        dst_addr=campaign.targets.addr[traces.target[rows]],
        start_s=part.starts[v, method].astype(np.float64),
        reply_ptr=ptr,
        ttl=traces.ttl[at],
        addr=traces.addr[at],
        rtt_ms=(traces.rtt_us[at] / 1000).astype(np.float32),
        kind=_KIND[kind],
        part=np.full(len(rows), CLASSIC_TRACE if is_classic else 0, np.uint8),
        reply_ttl=traces.reply_ttl[at],
        probing=Probing(
            method=np.full(len(rows), METHODS.index(_METHOD.get(name, name)), np.uint8),
            stop=_STOP[traces.stop[rows]],
            last_ttl=traces.last_ttl[rows],
            icmp=icmp.astype(np.int32),
            attempts=2,
            gap_limit=5,
            wait_s=1,
        ),
    )
