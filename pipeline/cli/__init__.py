"""The ``hopscope`` command: arguments -> config -> stage; exit status 0, 1 or 2.

0: all done. 1: a file or an AS, named in the output, was left out or failed; the rest is done.
2: nothing could be done; one line says why and what to give.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer
from typer.exceptions import TyperException

from pipeline.cli.app import app, command, words_of
from pipeline.config import (
    AnalyzeConfig,
    CompareConfig,
    ConvertConfig,
    DoctorConfig,
    ExploreConfig,
    ExportConfig,
    GenerateConfig,
    IngestConfig,
    JudgeConfig,
    ListConfig,
    LogConfig,
    LookupConfig,
    RemoveConfig,
    RenameConfig,
    RestoreConfig,
    SearchConfig,
    ShowConfig,
    StatusConfig,
    TracesConfig,
    WhyConfig,
)
from pipeline.config.generate import model_of, parameters_of, plan_of
from pipeline.errors import PipelineError, UsageError
from pipeline.generate import check_sizes
from pipeline.model.words import number
from pipeline.places import url_of
from pipeline.processes.stopping import stop_on_signals
from pipeline.terminal import lines, log
from pipeline.terminal.arguments import Given, takes, with_hint, wrong_words
from pipeline.terminal.changes import print_removed, print_renamed, print_restored
from pipeline.terminal.contents import (
    print_as,
    print_converted,
    print_export,
    print_list,
    print_lookup,
    print_snapshot,
    print_status,
    print_why_of,
)
from pipeline.terminal.help_of_models import HelpOfModels
from pipeline.terminal.help_of_stages import HelpOfStages
from pipeline.terminal.lines import (
    fail,
    fail_by_system,
    flush,
    print_line,
    to_stdout,
    warn,
    warn_of_limits,
)
from pipeline.terminal.summaries import (
    analyze_facts,
    calibration_facts,
    compare_facts,
    ingest_facts,
    print_analyze,
    print_calibration,
    print_compare,
    print_ingest,
    print_json,
    print_search,
    print_warnings,
    search_facts,
)
from pipeline.terminal.traces import print_traces

if TYPE_CHECKING:
    from pipeline.terminal.progress_display import ProgressDisplay


def _list_rules() -> None:
    from pipeline.terminal.rules import print_rules  # heavy: every rule of inference

    print_rules()


LIST_RULES = {"--list-rules": (_list_rules, "List the rules of inference and exit.")}


@command("ingest night/ --store mystore --ip2as routeviews.pfx2as")
@takes(
    words_of(IngestConfig, LogConfig),
    as_json=True,
    instead=LIST_RULES,
)
def ingest(given: Given) -> None:
    """Read files or folders into a snapshot of the store."""
    summary = _ingest(given.config(IngestConfig))
    if given.as_json:
        print_json(ingest_facts(summary))
    else:
        print_ingest(summary)
    raise typer.Exit(0 if summary.complete else 1)


@command("analyze --store mystore --out reports --metrics hops,diameter")
@takes(words_of(AnalyzeConfig, LogConfig), as_json=True, verbose=True)
def analyze(given: Given) -> None:
    """Measure the ASes of a snapshot (--metrics) and write the reports."""
    summary = _analyze(given.config(AnalyzeConfig))
    if given.as_json:
        print_json(analyze_facts(summary))
    else:
        print_analyze(summary, is_verbose=given.is_verbose)
    raise typer.Exit(0 if summary.complete else 1)


@command("run night/ --store mystore --out reports --ip2as routeviews.pfx2as", cls=HelpOfStages)
@takes(
    words_of(IngestConfig, AnalyzeConfig, LogConfig),
    as_json=True,
    verbose=True,
    instead=LIST_RULES,
)
def run(given: Given) -> None:
    """Ingest, then analyze."""
    ingest_config, analyze_config = given.config(IngestConfig), given.config(AnalyzeConfig)
    from pipeline.stages.places import check_run
    from pipeline.stages.run_metrics import stages_of_a_run

    check_run(ingest_config, analyze_config)
    with stages_of_a_run(ingest_config.store, analyze_config.out):
        ingested = _ingest(ingest_config)
        made = {"snapshot": ingested.snapshot, "version": ingested.version}
        summary = _analyze(replace(analyze_config, **made), printed=ingested.warnings)
    if given.as_json:
        print_json(ingest_facts(ingested) | analyze_facts(summary))
    else:
        print_ingest(ingested, with_mapped=False)  # the last lines say it
        print_analyze(summary, is_verbose=given.is_verbose)
    raise typer.Exit(0 if ingested.complete and summary.complete else 1)


@command("compare 2026-11-20 2026-11-21 --store mystore --out reports")
@takes(words_of(CompareConfig, LogConfig), as_json=True)
def compare(given: Given) -> None:
    """Report what changed between two snapshots of a store."""
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.compare import compare as compare_snapshots
        summary = compare_snapshots(given.config(CompareConfig), progress)
    print_warnings(summary.warnings)
    if given.as_json:
        print_json(compare_facts(summary))
    else:
        print_compare(summary)


@command("generate ba --routers 100000 --asn 64496 --store mystore", cls=HelpOfModels)
@takes(words_of(GenerateConfig))
def generate(given: Given) -> None:
    """Make a synthetic topology: a BRITE file (--out) or a snapshot (--store).

    Or, with --traces, a network of known truth and what is measured in it.
    """
    config = replace(given.config(GenerateConfig), said=given.said)
    if config.traces is not None:
        plan_of(config)  # before anything is shown
        with _display() as progress:
            with progress.preparing():
                from pipeline.stages.networks import generate_network
            for line in generate_network(config, progress):
                print_line(line)
        return
    if config.like is None:
        if config.out is not None and "store" not in given.said:
            config = replace(config, store=None)  # the variable is meant for other commands
        model = model_of(config)
        check_sizes(model, parameters_of(config, model))  # before anything is shown
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.generate import generate_topology
        line = generate_topology(config, progress)
    print_line(line)


@command("search bfs graph.txt --source 0")
@takes(words_of(SearchConfig), as_json=True)
def search(given: Given) -> None:
    """Search one graph: a file, an AS of a snapshot, or a snapshot of one AS."""
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.search import search
        summary = search(replace(given.config(SearchConfig), said=given.said), progress)
    print_warnings(summary.graph.warnings)
    if given.as_json:
        print_json(search_facts(summary))
    else:
        print_search(summary)
    raise typer.Exit(1 if summary.graph.is_mostly_broken else 0)


@command("explore --store mystore")
@takes(words_of(ExploreConfig))
def explore(given: Given) -> None:
    """Make, load and search graphs on a page on 127.0.0.1."""
    config = given.config(ExploreConfig)
    with _display() as progress, progress.preparing():
        from pipeline.explore.server import serve_explorer
    serve_explorer(config, print_line)


@command("doctor --store mystore")
@takes(words_of(DoctorConfig), as_json=True)
def doctor(given: Given) -> None:
    """Show what this machine has, what searches cost on it, and whether a store is intact."""
    config = given.config(DoctorConfig)
    if "out" in given.said and (url := url_of(config.out or "")):
        raise UsageError(f"--out takes a folder on this machine's disks, not {url!r}")
    with _display() as progress, progress.preparing():
        from pipeline.stages.doctor import examine, measure_machine
    findings = []
    for finding in examine(config.store, config.out, clean=config.clean):
        findings.append(finding)
        if not given.as_json:
            print_line(f"{'ok  ' if finding.ok else 'BAD '} {finding.subject}: {finding.text}")
            sys.stdout.flush()  # the next one may take a minute
    facts: dict = {"findings": [vars(finding) for finding in findings]}
    if config.calibrate:
        with _display() as progress:
            calibration, path = measure_machine(progress)
        if not given.as_json:
            print_calibration(calibration, path)
        facts["calibration"] = calibration_facts(calibration, path)
    if given.as_json:
        print_json(facts)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@command("list --store mystore", name="list")
@takes(words_of(ListConfig), as_json=True)
def list_(given: Given) -> None:
    """List the snapshots of a store."""
    from pipeline.stages.contents.snapshots import list_snapshots

    found = list_snapshots(given.config(ListConfig))
    if given.as_json:
        print_json({"snapshots": found})
    else:
        print_list(found)
    raise typer.Exit(1 if any(facts["fault"] for facts in found) else 0)


@command("show night AS3356 --store mystore")
@takes(words_of(ShowConfig), as_json=True)
def show(given: Given) -> None:
    """Show a snapshot, or one AS of it: ingress routers by neighbour AS."""
    from pipeline.stages.contents.snapshots import show

    config = given.config(ShowConfig)
    facts = show(config)
    if given.as_json:
        print_json(facts)
    elif "as" in facts:
        print_as(facts)
        print_why_of(facts["as"]["ingresses"], facts["snapshot"], config.store)
    else:
        print_snapshot(facts)


@command("lookup 192.0.2.1 --store mystore")
@takes(words_of(LookupConfig), as_json=True)
def lookup(given: Given) -> None:
    """Find the router or interface of an address, and its AS."""
    from pipeline.stages.contents.lookup import lookup

    config = given.config(LookupConfig)
    facts = lookup(config)
    if given.as_json:
        print_json(facts)
    else:
        print_lookup(facts)
        print_why_of(facts["found"], facts["snapshot"], config.store)


@command("why 192.0.2.1 --store mystore")
@takes(words_of(WhyConfig), as_json=True)
def why(given: Given) -> None:
    """Explain why an address is in its AS and on its router, and show what is known of it."""
    from pipeline.stages.contents.why import why
    from pipeline.terminal.why import print_why

    config = given.config(WhyConfig)
    facts = why(config)
    if given.as_json:
        print_json(facts)
    else:
        print_why(facts, config.store)


@command("traces night --address 192.0.2.1 --store mystore")
@takes(words_of(TracesConfig), as_json=True)
def traces(given: Given) -> None:
    """Show kept traces: of an address, a link, an ingress, a target, a vantage point, an AS."""
    from pipeline.stages.contents.trace_files import format_of, scamper_records, write_traces
    from pipeline.stages.contents.traces import traces

    config = given.config(TracesConfig)
    if given.as_json and config.format is not None:
        raise UsageError("--json and --format both write: give one of them")
    if config.out is not None and config.format is None:
        config = replace(config, format=format_of(config.out))
    facts = traces(config)
    found = facts.pop("traces")
    if given.as_json:
        print_json(facts | {"n_found": found.num_rows, "traces": list(scamper_records(found))})
    elif config.format is not None:
        with to_stdout() if config.out is None else contextlib.nullcontext():
            write_traces(found, config.format, config.out)
        if config.out is not None:
            print_line(f"{number(found.num_rows, 'trace')} -> {config.out} ({config.format})")
    else:
        print_traces(facts, found)


@command("judge mystore lab/ --snapshot night")
@takes(words_of(JudgeConfig), as_json=True)
def judge(given: Given) -> None:
    """Compare a snapshot, or the output of another method, with what is true."""
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.judge import judge
        facts = judge(given.config(JudgeConfig), progress)
    from pipeline.terminal.judge import print_judged

    print_warnings(facts["warnings"])
    print_json(facts) if given.as_json else print_judged(facts)
    raise typer.Exit(0 if facts["complete"] else 1)


@command("status --store mystore")
@takes(words_of(StatusConfig), as_json=True)
def status(given: Given) -> None:
    """Show the runs in progress on a store, with the time left for each."""
    from pipeline.stages.contents.status import lateness, staleness, status

    config = given.config(StatusConfig)
    late, stale = lateness(config), staleness(config)
    runs = status(config)
    if given.as_json:
        print_json({"runs": runs, "late": late, "stale": stale})
    else:
        print_status(runs)
    for line in filter(None, (late, stale)):
        fail(line)
    if late or stale:
        raise typer.Exit(1)


@command("export night --asn 3356 --store mystore --out 3356.graphml")
@takes(words_of(ExportConfig), as_json=True)
def export(given: Given) -> None:
    """Write a snapshot, or the graph of one AS, for other programs."""
    from pipeline.stages.contents.export import export

    config = given.config(ExportConfig)
    if given.as_json and config.out is None:
        raise UsageError("--json needs standard output for itself: give --out FILE")
    with to_stdout() if config.out is None else contextlib.nullcontext():
        facts = export(config)
    if given.as_json:
        print_json(facts)
    elif config.out is not None:
        print_export(facts)


@command("convert topology.graphml topology.brite")
@takes(words_of(ConvertConfig), as_json=True)
def convert(given: Given) -> None:
    """Write a file in another format of its kind, without a store."""
    from pipeline.stages.convert import convert

    facts = convert(given.config(ConvertConfig))
    report = facts.pop("report")
    facts |= {"rejected": dict(report.rejected), "notes": dict(report.notes)}
    print_json(facts) if given.as_json else print_converted(facts)
    if report.status != "ok" or report.mostly_rejected:
        fail(report.error or f"{report.path}: {report.mostly_rejected}")
        raise typer.Exit(1)


@command("remove 2026-11-20 2026-11-21 --store mystore")
@takes(words_of(RemoveConfig), as_json=True)
def remove(given: Given) -> None:
    """Remove snapshots from a store; their reports stay."""
    from pipeline.stages.contents.changes import remove

    done = remove(given.config(RemoveConfig))
    print_json({"removed": done}) if given.as_json else print_removed(done)


@command("rename 2026-11-20 before-the-change --store mystore")
@takes(words_of(RenameConfig), as_json=True)
def rename(given: Given) -> None:
    """Give a snapshot another name."""
    from pipeline.stages.contents.changes import rename

    done = rename(given.config(RenameConfig))
    print_json(done) if given.as_json else print_renamed(done)


@command("restore 2026-11-20 --store mystore")
@takes(words_of(RestoreConfig), as_json=True)
def restore(given: Given) -> None:
    """Restore what the last ingest into a snapshot replaced."""
    from pipeline.stages.contents.changes import restore

    done = restore(given.config(RestoreConfig))
    print_json(done) if given.as_json else print_restored(done)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def serve(context: typer.Context) -> None:
    """Start Prefect and serve reports on 127.0.0.1."""
    # Replaces this process: a signal must reach the program that cleans up.
    os.execv(sys.executable, [sys.executable, "-m", "flows.serve", *context.args])


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def notify(context: typer.Context) -> None:
    """Send a test of the notices of nightly runs (--test)."""
    os.execv(sys.executable, [sys.executable, "-m", "flows.notify", *context.args])


def _display() -> ProgressDisplay:
    from pipeline.terminal.progress_display import ProgressDisplay

    return ProgressDisplay()


def _ingest(config: IngestConfig):
    with _display() as progress:
        with progress.preparing():
            from pipeline.stages.ingest import ingest  # heavy: once arguments are known to be right
        summary = ingest(config, progress)
    print_warnings(summary.warnings)
    return summary


def _analyze(config: AnalyzeConfig, printed: Sequence[str] = ()):
    """Analyze, and print the warnings that were not printed before."""
    with _display() as progress:
        with progress.preparing():
            from pipeline.schedule.early import start_early

            start_early(config)  # workers' imports, in parallel with ours
            from pipeline.stages.analyze import analyze
        summary = analyze(config, progress)
    print_warnings([line for line in summary.warnings if line not in printed])
    return summary


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with its status."""
    lines.open_closed_streams()
    log.start(os.environ.get(log.FORMAT_VARIABLE, "text"))
    log.about(run=uuid.uuid4().hex[:12])
    warn_of_limits()
    with lines.warnings_of_modules(), stop_on_signals() as stopping:
        status: int | None = None
        try:
            status = _run_command(arguments)
        except (KeyboardInterrupt, typer.Abort) as ended:  # outside our own commands
            if isinstance(ended.__cause__, EOFError):  # typer takes it for an end of the terminal
                raise ended.__cause__ from None
        if stopping.is_asked:  # typer turns each of them into its own status
            warn("stopped")
            status = stopping.exit_status
    sys.exit(status or 0)


def _run_command(arguments: list[str] | None) -> int | None:
    """The exit status of one command; an error is printed in one line."""
    try:
        status = app(arguments, standalone_mode=False)
        flush()
    except TyperException as error:
        if error.__class__.__name__ == "NoArgsIsHelpError":  # the message is the whole help
            lines.to_stderr(error.format_message() + "\n")
        else:
            fail(with_hint(wrong_words(error)))
    except PipelineError as error:
        fail(str(error))
    except Exception as error:
        return fail_by_system(error)
    else:
        return status
    return 2
