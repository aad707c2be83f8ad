"""The ``hopscope`` command: arguments -> config -> stage; exit status 0, 1 or 2.

0: all done. 1: a file or an AS, named in the output, was left out or failed; the rest is done.
2: nothing could be done; one line says why and what to give.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from pipeline import __version__
from pipeline.cli import options as o
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import PipelineError
from pipeline.generate import models_named, models_that_take
from pipeline.stopping import stop_on_signals
from pipeline.terminal.lines import print_line, warn
from pipeline.terminal.summaries import (
    analyze_facts,
    calibration_facts,
    ingest_facts,
    print_analyze,
    print_calibration,
    print_ingest,
    print_json,
    print_warnings,
)

if TYPE_CHECKING:
    from pipeline.terminal.progress_display import ProgressDisplay

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ingress routers, hop counts and widths of every Autonomous System.",
    epilog="Each option can be given as HOPSCOPE_<NAME>. Exit status: 0 all done; 1 something, "
    "named, was left out; 2 nothing could be done.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print_line(f"hopscope {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Nothing to do before a command."""


@app.command()
def ingest(
    inputs: o.Inputs,
    store: o.Store,
    snapshot: o.SnapshotName = None,
    format: o.FormatName = None,
    ip2as: o.Ip2as = None,
    as_names: o.AsNames = None,
    aliases: o.Aliases = None,
    allow_special: o.AllowSpecial = None,
    borders: o.Borders = "elected",
    bridge_gaps: o.BridgeGaps = False,
    targets_are_routers: o.TargetsAreRouters = False,
    asn: o.Asn = None,
    ingresses: o.Ingresses = None,
    workers: o.Workers = None,
    as_json: o.AsJson = False,
) -> None:
    """Read files or folders into a snapshot of the store."""
    config = o.ingest_config(locals())
    summary = _ingest(config)
    if as_json:
        print_json(ingest_facts(summary))
    else:
        print_ingest(summary)
    raise typer.Exit(0 if summary.complete else 1)


@app.command()
def analyze(
    store: o.Store,
    out: o.Out,
    snapshot: o.SnapshotName = None,
    asns: o.Asns = "",
    metrics: o.Metrics = "hops",
    max_searches: o.MaxSearches = None,
    device: o.DeviceChoice = "auto",
    pack: o.Pack = "auto",
    schedule: o.Schedule = "free",
    workers: o.Workers = None,
    scheduler: o.Scheduler = None,
    distances: o.Distances = False,
    verify: o.Verify = False,
    pages: o.Pages = True,
    as_json: o.AsJson = False,
) -> None:
    """Measure the ASes of a snapshot (--metrics) and write the reports."""
    summary = _analyze(o.analyze_config(locals()))
    if as_json:
        print_json(analyze_facts(summary))
    else:
        print_analyze(summary)
    raise typer.Exit(0 if summary.complete else 1)


@app.command()
def run(
    inputs: o.Inputs,
    store: o.Store,
    out: o.Out,
    snapshot: o.SnapshotName = None,
    format: o.FormatName = None,
    ip2as: o.Ip2as = None,
    as_names: o.AsNames = None,
    aliases: o.Aliases = None,
    allow_special: o.AllowSpecial = None,
    borders: o.Borders = "elected",
    bridge_gaps: o.BridgeGaps = False,
    targets_are_routers: o.TargetsAreRouters = False,
    asn: o.Asn = None,
    ingresses: o.Ingresses = None,
    metrics: o.Metrics = "hops",
    max_searches: o.MaxSearches = None,
    device: o.DeviceChoice = "auto",
    pack: o.Pack = "auto",
    schedule: o.Schedule = "free",
    workers: o.Workers = None,
    scheduler: o.Scheduler = None,
    distances: o.Distances = False,
    verify: o.Verify = False,
    pages: o.Pages = True,
    as_json: o.AsJson = False,
) -> None:
    """Ingest, then analyze."""
    given = locals()
    ingest_config = o.ingest_config(given)
    analyze_config = o.analyze_config(given)  # a wrong option is said before hours of reading
    from pipeline import stages

    stages.check_run(ingest_config, analyze_config)
    ingested = _ingest(ingest_config)
    made = {"snapshot": ingested.snapshot, "version": ingested.version}
    summary = _analyze(replace(analyze_config, **made))
    if as_json:
        print_json(ingest_facts(ingested) | analyze_facts(summary))
    else:
        print_ingest(ingested)
        print_analyze(summary)
    raise typer.Exit(0 if ingested.complete and summary.complete else 1)


@app.command()
def generate(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(help=f"{models_named()}."),
    ],
    routers: Annotated[int, typer.Option(metavar="N", help="Routers in all.", min=1)],
    ases: Annotated[
        int, typer.Option(metavar="N", help=f"ASes ({models_that_take('n_ases')}).", min=1)
    ] = 50,
    links: Annotated[
        int, typer.Option(metavar="M", help="Links that a new router brings.", min=1)
    ] = 2,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed, the same bytes.", min=0)
    ] = 1,
    internet: Annotated[
        bool, typer.Option("--internet", help="Many ASes of very different sizes (ba).")
    ] = False,
    min_routers: Annotated[
        int,
        typer.Option(
            metavar="N", help=f"Of the smallest AS ({models_that_take('smallest')}).", min=1
        ),
    ] = 20,
    max_routers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Of the largest AS ({models_that_take('largest')}) [13.6 % of all].",
            min=1,
        ),
    ] = None,
    max_ingresses: Annotated[
        int,
        typer.Option(
            metavar="N", help=f"Most of an AS ({models_that_take('max_ingresses')}).", min=1
        ),
    ] = 2000,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="Rows of a grid [nearly a square].", min=1)
    ] = None,
    cut: Annotated[
        float, typer.Option(metavar="SHARE", help="Links of a grid to cut.", min=0, max=1)
    ] = 0.1,
    out: Annotated[
        Path | None, typer.Option(parser=o.given_path, metavar="FILE", help="BRITE file to write.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            envvar="HOPSCOPE_STORE",
            show_envvar=False,
            metavar="DIR",
            help="Store to write a snapshot to.",
        ),
    ] = None,
    snapshot: o.SnapshotName = None,
    asn: o.Asn = None,
    ingresses: o.Ingresses = None,
) -> None:
    """Make a synthetic topology: a BRITE file (--out) or a snapshot (--store)."""
    given = {name: value for name, value in locals().items() if name != "context"}
    said = tuple(name for name in given if o.is_said(context, name))
    if out is not None and "store" not in said:  # a variable is for the other commands too
        given["store"] = None
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.generate import GenerateConfig, generate_topology
        told = generate_topology(GenerateConfig(**given, said=said), progress)
    print_line(told)


@app.command()
def doctor(
    store: Annotated[
        Path | None, typer.Option(envvar="HOPSCOPE_STORE", help="Store to check to the last byte.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(envvar="HOPSCOPE_OUT", help="Folder of reports to look through.")
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Measure what searches and tasks cost; analyze uses it."),
    ] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove what killed runs left in --store and --out.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Say what this machine has, what searches cost on it, and whether a store is whole."""
    with _display() as progress, progress.preparing():
        from pipeline.stages.doctor import examine, measure_machine

        findings = examine(store, out, clean=clean)
    facts: dict = {"findings": [vars(finding) for finding in findings]}
    if not as_json:
        for finding in findings:
            print_line(f"{'ok  ' if finding.ok else 'BAD '} {finding.subject}: {finding.text}")
    if calibrate:
        with _display() as progress:
            calibration, path = measure_machine(progress)
        if not as_json:
            print_calibration(calibration, path)
        facts["calibration"] = calibration_facts(calibration, path)
    if as_json:
        print_json(facts)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def serve(context: typer.Context) -> None:
    """Start Prefect and serve reports on 127.0.0.1."""
    # In place of this process: a signal to it must reach what clears up.
    os.execv(sys.executable, [sys.executable, "-m", "flows.serve", *context.args])


def _display() -> ProgressDisplay:
    from pipeline.terminal.progress_display import ProgressDisplay

    return ProgressDisplay()


def _ingest(config: IngestConfig):
    with _display() as progress:
        with progress.preparing():
            from pipeline import stages  # heavy imports, after arguments are known to be right
        summary = stages.ingest(config, progress)
    print_warnings(summary.warnings)
    return summary


def _analyze(config: AnalyzeConfig):
    with _display() as progress:
        with progress.preparing():
            from pipeline import stages
        summary = stages.analyze(config, progress)
    print_warnings(summary.warnings)
    return summary


def _with_hint(message: str) -> str:
    """A message of the parser, which may end in a full stop or a question, and where to look."""
    if message.endswith("?"):
        return f"{message} See --help"
    return f"{message.removesuffix('.')}; see --help"


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with its status."""
    with stop_on_signals() as stopping:
        status: int | None = None
        with contextlib.suppress(KeyboardInterrupt, typer.Abort):  # between commands of ours
            status = _run_command(arguments)
        if stopping.asked.is_set():  # typer makes a status of its own of any of them
            with contextlib.suppress(OSError):  # a terminal that is closed
                warn("stopped")
            status = stopping.exit_status
    sys.exit(status or 0)


def _run_command(arguments: list[str] | None) -> int | None:
    """The exit status of one command; what is wrong is said in one line."""
    try:
        o.refuse_empty_words(sys.argv[1:] if arguments is None else arguments)
        return app(arguments, standalone_mode=False)
    except TyperException as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        if error.__class__.__name__ == "NoArgsIsHelpError":  # the message is the whole help
            sys.stderr.write(message + "\n")
        else:
            warn(_with_hint(" ".join(message.split())))
    except PipelineError as error:
        warn(str(error))
    except OSError as error:  # a full disk, a folder that is a file, no permission
        warn(f"{error.filename or 'system'}: {error.strerror or error}")
    return 2
