"""Files or folders to a snapshot in the store."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kernels.compiled import FIRST_RUN, has_compiled
from kernels.host import n_cores
from pipeline.config import IngestConfig
from pipeline.errors import FormatError, UsageError
from pipeline.graphs import asns_of, build_graphs
from pipeline.graphs.combine import MAX_NAMED, refuse_shared
from pipeline.infer import Observation, infer_topology
from pipeline.infer.declared import declare
from pipeline.infer.owners.special import check_special
from pipeline.infer.rules import rules_without
from pipeline.infer.traces.merge import merge_addresses
from pipeline.ingest import FORMATS, hash_file, open_reader
from pipeline.model.choices import ROUTERS_BY_DEFAULT
from pipeline.model.measured.origins import as_ranges
from pipeline.model.measured.reading import ReadReport, newest_record, printable_path
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.topology import NO_ASN, Topology
from pipeline.model.words import node_words, number
from pipeline.stages.contents.replaced import (
    alike_warnings,
    notice_of,
    replaced_by,
    replacement_warnings,
)
from pipeline.stages.inputs.brought import brought
from pipeline.stages.inputs.effects import without_effect
from pipeline.stages.inputs.files import InputFile, InputFiles, find_inputs
from pipeline.stages.inputs.reasons import unread_named_first, why_nothing
from pipeline.stages.inputs.resumed import folder_name
from pipeline.stages.inputs.rows import holds, input_row, options_told, rejects
from pipeline.stages.inputs.tables import (
    Hosts,
    Tables,
    read_hosts,
    read_named,
    read_names,
    read_places,
    read_tables,
)
from pipeline.stages.inputs.traces import HowFar, read_all_traces
from pipeline.stages.inputs.unmapped import mapped_warnings, why_unmapped
from pipeline.stages.inputs.vantage import sources_of, vantage_points
from pipeline.stages.warnings import (
    alias_warnings,
    doubtful_text,
    effect_warnings,
    input_warnings,
    left_out_warnings,
    lost_warnings,
    name_warnings,
    place_warnings,
)
from pipeline.store import check_name, scratch_folder, write_snapshot
from pipeline.store.pointers.nights import DefaultName, origin_of
from pipeline.store.running import running
from pipeline.store.versions.manifest import read_manifest
from pipeline.store.versions.mirrored import refresh_pointers
from pipeline.store.versions.names import name_of_version

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestSummary:
    """Outcome of the inputs; small enough to pass between stages."""

    store: Path
    snapshot: str
    path: Path
    n_ases: int
    n_nodes: int
    n_edges: int
    n_ingresses: int
    n_candidates: int  # seen as an ingress only after a gap; not among n_ingresses
    node_kind: str
    n_traces: int
    n_traces_kept: int | None = None  # None: there are no traces
    n_border_links: int = 0  # between ASes; not among n_edges, which are inside
    n_silent: int = 0  # of the nodes: silent routers
    n_resumed: int = 0  # files of traces that a killed run had read already
    n_addrs: int = 0  # distinct addresses that answered
    n_addrs_mapped: int = 0  # of these, mapped or admitted before any election
    n_addrs_in_no_table: int = 0  # of these, admitted, but in no prefix table
    reports: list[ReadReport] = field(default_factory=list)
    left_alone: list[Path] = field(default_factory=list)
    replaced: dict | None = None  # what the name held before, and what it holds now
    warnings: list[str] = field(default_factory=list)
    wall_s: float = 0.0

    @property
    def version(self) -> str:
        """Which version of the snapshot this ingest wrote."""
        return self.path.name

    @property
    def complete(self) -> bool:
        """Whether every file was used to its end, most of its records too."""
        return all(each.status == "ok" and not each.mostly_rejected for each in self.reports)


def ingest(config: IngestConfig, progress: ProgressCallback = no_progress) -> IngestSummary:
    """Read measurements and topologies, infer and build the AS graphs, write one snapshot.

    Raises
    ------
    UsageError
        If nothing can be done: no input, no record in any, no way to find an AS.
    StoreError
        If the store cannot be written.
    """
    with (
        running(config.store, "ingest", config.snapshot, progress) as shown,
        brought([*config.inputs, *config.tables]) as instead,
    ):
        inputs = tuple(instead.get(path, path) for path in config.inputs)
        return _ingest(replace(config, inputs=inputs), shown)


def _ingest(config: IngestConfig, progress: ProgressCallback) -> IngestSummary:
    started = time.time()
    inputs = find_inputs(config.inputs, config.format, config.store, config.tables)
    reports: list[ReadReport] = []
    with unread_named_first(inputs, reports, config.format):
        return _ingest_inputs(config, inputs, reports, started, progress)


def _ingest_inputs(
    config: IngestConfig,
    inputs: InputFiles,
    reports: list[ReadReport],
    started: float,
    progress: ProgressCallback,
) -> IngestSummary:
    traces = inputs.of_kind("traces")
    _refuse_mixture(inputs, config)
    if traces and not config.ip2as and config.asn is None:
        raise UsageError(
            f"{traces[0].path}: traces name no AS; give --ip2as FILE (CAIDA pfx2as), "
            "or --asn N if all are in one AS"
        )
    # Faults of options are reported before hours of reading, not after.
    if config.name_rules and not config.host_names:
        raise UsageError("--name-rules: without host names they say nothing; give --host-names")
    for prefix in config.allow_special:
        check_special(prefix)
    rules_without(config.without_rule)
    sources = sources_of(vantage_points(config.vantage), [file.path for file in traces])
    refresh_pointers(config.store)
    if config.snapshot is not None:
        check_name(config.snapshot)
        if notice := notice_of(config.store, config.snapshot, [f.path for f in inputs.files]):
            logger.warning(notice)
    wanted = [
        folder_name(file.path, file.format, source)
        for file, source in zip(traces, sources, strict=True)
    ]
    # Kept until the snapshot is there: a run that is killed before need not be read again.
    with scratch_folder(config.store, wanted) as scratch:
        return _ingest_by(scratch, config, inputs, reports, started, progress)


def _ingest_by(
    scratch: Path,
    config: IngestConfig,
    inputs: InputFiles,
    reports: list[ReadReport],
    started: float,
    progress: ProgressCallback,
) -> IngestSummary:
    traces = inputs.of_kind("traces")
    tables = read_tables(config, needed=bool(traces))
    topologies, hosts, n_resumed = _read(config, inputs, reports, tables, scratch, progress)
    if not topologies:
        raise UsageError(f"nothing to ingest: {why_nothing(reports)}")
    share = next((t.mapped for t in topologies if t.mapped is not None), None)
    faulty = tables.faulty_prefix_tables
    if share is not None and share.n_in_as == 0:
        raise UsageError(f"nothing to ingest: {why_unmapped(share, config.borders, faulty)}")
    notes = [] if share is None else mapped_warnings(share, config.borders, faulty)
    notes += alias_warnings(config.aliases, topologies)
    progress(Progress("build", 0, 1, "graphs"))
    graphs = build_graphs(topologies)
    progress(Progress("build", 1, 1, "graphs", number(graphs.n_ases, "AS")))
    if n_loops := graphs.counts.get("n_loops_dropped", 0):
        given = number(graphs.counts["n_links_given"], "link")
        notes.append(f"{n_loops:,} of {given} left out: from a node to itself")
    if n_doubtful := graphs.counts.get("doubtful_pairs", 0):
        notes.append(doubtful_text(n_doubtful))
    if graphs.n_ases == 0:
        raise UsageError("nothing to ingest: no router of the inputs is in an AS; give --asn N")
    names = read_names(config, graphs, hosts)
    places = read_places(config, graphs, names.of_hosts)
    reports += names.reports + places.reports
    unused = without_effect(config, tables, topologies, reports, graphs.asn)
    unused += names.unused + places.unused
    notes += place_warnings(places.of_addrs)
    notes += effect_warnings(config, {holds(report) for report in reports}, unused)
    notes += left_out_warnings(inputs.left_alone, config.format)
    rows, options = [input_row(each) for each in reports], options_told(config, bool(traces))
    newest_s = newest_record(rows)
    if not config.snapshot and _n_traces(reports):
        oldest_s = min((r.oldest_s for r in reports if r.oldest_s), default=0.0)
        notes += name_warnings(oldest_s, newest_s)
    origin = origin_of({"inputs": rows, "options": options})
    name = config.snapshot or DefaultName(newest_s or started, origin)
    known = tables.registries.organisations
    progress(Progress("write", 0, 1, "snapshot", config.snapshot or ""))
    path = write_snapshot(
        config.store,
        name,
        graphs,
        as_names=names.of_ases,
        inputs=rows,
        options=options,
        counts=dict(graphs.counts, n_unmapped=graphs.n_unmapped, n_traces=_n_traces(reports)),
        rejects=rejects(reports),
        warnings=notes,
        host_names=names.of_hosts,
        locations=places.of_addrs,
        organisations=None if known is None else known.names_of(graphs.asn),
    )
    snapshot, replaced = name_of_version(path.name), replaced_by(config.store, path)
    progress(Progress("write", 1, 1, "snapshot", snapshot))
    alike = [] if config.snapshot else alike_warnings(config.store, path)
    notes = [*replacement_warnings(config.store, replaced), *alike, *notes]
    return IngestSummary(
        store=config.store,
        snapshot=snapshot,
        path=path,
        n_ases=graphs.n_ases,
        n_nodes=int(graphs.node_ptr[-1]),
        n_edges=int(graphs.arc_ptr[-1]) // 2,
        n_ingresses=int(np.count_nonzero(~graphs.candidate)),
        n_candidates=int(np.count_nonzero(graphs.candidate)),
        node_kind=graphs.kind,
        n_traces=_n_traces(reports),
        n_traces_kept=read_manifest(path, check_files=False)["counts"].get("n_traces_kept"),
        n_border_links=len(graphs.border_near),
        n_silent=graphs.counts.get("silent_routers", 0),
        n_resumed=n_resumed,
        **({} if share is None else share.counts),
        reports=reports,
        left_alone=inputs.left_alone,
        replaced=replaced,
        warnings=[*lost_warnings(rows), *notes, *input_warnings(rows)],
        wall_s=time.time() - started,
    )


def _read(
    config: IngestConfig,
    inputs: InputFiles,
    reports: list[ReadReport],
    tables: Tables,
    scratch: Path,
    progress: ProgressCallback,
) -> tuple[list[Topology], Hosts | None, int]:
    """Read every input; reports are added in the order of the inputs, tables after them.

    Host names are those of observed addresses, if inference needed them. The number is that of
    files which a killed run had read.
    """
    traces = inputs.of_kind("traces")

    started = time.monotonic()

    def on_traces(read: HowFar) -> None:
        rate = read.n_traces / max(time.monotonic() - started, 1e-3)
        detail = f"{number(read.n_traces, 'trace')}, {rate:,.0f}/s"
        progress(Progress("read", read.n_files, len(traces), "files", detail, read.share))

    if traces:
        packages = {"pipeline.infer.traces", *(FORMATS[file.format].reader for file in traces)}
        progress(Progress("read", 0, len(traces), "files", _first_run(packages)))
    sources = sources_of(vantage_points(config.vantage), [file.path for file in traces])
    files = [(file.path, file.format) for file in traces]
    read = read_all_traces(files, scratch, config.workers, on_traces, sources)
    report_of = {f.path: r.report for f, r in zip(traces, read, strict=True)}
    topologies: list[Topology] = []
    names: list[str] = []
    for file in inputs.files:
        if file.path in report_of:
            reports.append(report_of[file.path])
            continue
        report, topology = _read_topology(file, config)
        reports.append(report)
        if topology is not None:
            nouns = node_words(topology.kind).nouns
            progress(Progress("read", topology.n_nodes, topology.n_nodes, nouns, file.path.name))
            topologies.append(topology)
            names.append(printable_path(file.path))
    refuse_shared([asns_of(topology.node_asn) for topology in topologies], names)
    reports += [_left_out(copy, original) for copy, original in inputs.copies.items()]
    observations = [r.observation for r in read if r.observation is not None]
    hosts = None
    if any(r.report.n_records for r in read):
        if tables.name_rules is not None:
            hosts = read_hosts(config, merge_addresses(observations).addrs)
            named = read_named(config, tables, hosts)
            tables = replace(tables, registries=replace(tables.registries, named=named))
        topologies.append(_infer(config, observations, tables, progress))
    reports += tables.reports
    return topologies, hosts, sum(r.is_kept for r in read)


def _first_run(packages: set[str]) -> str:
    """What is shown if some of this code is still to be compiled."""
    return "" if all(map(has_compiled, packages)) else FIRST_RUN


def _left_out(copy: Path, original: Path) -> ReadReport:
    """What is said about a file whose bytes are those of one that is read."""
    report = ReadReport(printable_path(copy), copy_of=printable_path(original))
    hash_file(copy, report)
    return report


def _refuse_mixture(inputs: InputFiles, config: IngestConfig) -> None:
    """Refuse measured and declared graphs in one snapshot: their units and meaning differ.

    Raises
    ------
    UsageError
        With the first file of either kind, and the ASes of the topology.
    """
    traces, topologies = inputs.of_kind("traces"), inputs.of_kind("topology")
    if not traces or not topologies:
        return
    _, topology = _read_topology(topologies[0], config)
    asns = asns_of(topology.node_asn).tolist() if topology is not None else []
    named = ", ".join(f"AS{asn}" for asn in asns[:MAX_NAMED])
    more = f" and {len(asns) - MAX_NAMED} more" if len(asns) > MAX_NAMED else ""
    raise UsageError(
        f"{printable_path(traces[0].path)} holds traces, {printable_path(topologies[0].path)} a "
        f"topology{' of ' if named else ''}{named}{more}: ingest them into separate snapshots; "
        "--format traces or --format topology selects one kind in a folder"
    )


def _infer(
    config: IngestConfig,
    observations: list[Observation],
    tables: Tables,
    progress: ProgressCallback,
) -> Topology:
    packages = {"pipeline.infer.rtt"}  # with what is compiled last
    if tables.prefixes is not None:
        packages |= {"pipeline.infer.ingresses"}
        packages |= {"pipeline.infer.owners.election"} if config.borders == "elected" else set()
    compiling = _first_run(packages)
    detail = "borders elected" if config.borders == "elected" else "borders by prefix"
    detail += f", {compiling}" if compiling else ""
    progress(Progress("infer", 0, 1, "topology", detail))
    topology = infer_topology(
        observations,
        prefixes=tables.prefixes,
        asn=config.asn,
        aliases=tables.aliases,
        registries=tables.registries,
        allow_special=config.allow_special,
        borders=config.borders,
        routers=config.routers or ROUTERS_BY_DEFAULT,
        bridge_gaps=config.bridge_gaps,
        targets_are_routers=config.targets_are_routers,
        without=config.without_rule,
        keep_traces=config.keep_traces,
        workers=config.workers or n_cores(),
    )
    n_owned = int(np.count_nonzero(topology.node_asn != NO_ASN))  # others are in no graph
    progress(Progress("infer", 1, 1, "topology", number(n_owned, topology.kind)))
    return topology


def _read_topology(file: InputFile, config: IngestConfig) -> tuple[ReadReport, Topology | None]:
    report = ReadReport(printable_path(file.path), file.format)
    if file.error is not None:
        report.refuse(file.error)
        hash_file(file.path, report)
        return report, None
    topology: Topology | None = None
    try:
        for read in open_reader(file.path, report, file.format)[1]:
            assert isinstance(read, Topology)  # FORMATS says that this format yields them
            topology = read
    except FormatError as error:
        report.refuse(error, partly=topology is not None)
    except OSError as error:
        report.refuse(error)
    if topology is None:
        return report, None
    try:
        declared = declare(topology, asn=config.asn, ingresses=config.ingresses)
    except UsageError as error:  # no AS in the file, and none given: other files are still read
        report.refuse(error)
        return report, None
    report.took_asn = config.asn is not None and (
        topology.kind == "as" or bool((topology.node_asn == NO_ASN).any())
    )
    report.kind, report.as_ranges = declared.kind, as_ranges(asns_of(declared.node_asn))
    return report, declared


def _n_traces(reports: list[ReadReport]) -> int:
    return sum(report.n_records for report in reports if holds(report) == "traces")
