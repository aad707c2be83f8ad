"""The nightly flow: ingest, measure, report, compare with the night before.

``python -m flows.nightly INPUT... --store DIR --out DIR [...]`` runs it on a Prefect server that it
starts itself, or on the server that ``PREFECT_API_URL`` names. The deployment ``nightly/nightly``
(prefect.yaml) runs it every night.

Rejected files and failed ASes end the run Partial (a state of type COMPLETED), with a warning
artifact; if nothing can be done it ends Failed, with one line that says what to give.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import logging
import os
import sys
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flows.processes.missing import why_no_prefect
from pipeline.places import in_one_line
from pipeline.terminal.lines import (
    fail,
    open_closed_streams,
    print_line,
    status_of,
    warn_of_limits,
)

if __name__ == "__main__":
    open_closed_streams()
    if missing := why_no_prefect("a nightly run"):
        fail(missing)
        sys.exit(2)

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.exceptions import TerminationSignal
from prefect.logging.handlers import APILogWorker, PrefectConsoleHandler
from prefect.runtime import flow_run
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings
from prefect.states import Failed, State

from flows.analyze import analyzed
from flows.compare import compared_with_night_before, next_compared
from flows.ingest import ingested
from flows.notices.emit import emit
from flows.notices.nights import as_page_of, events_before, events_of, wanted_asns
from flows.notices.notice import NightOutcome, make_notice
from flows.options import given_values, parameters_of, with_parameters
from flows.pages.artifacts import report_link, show_name, show_warnings
from flows.pages.progress import listening
from flows.processes.server import (
    auth_string,
    free_port,
    kept_running,
    prefect_home,
    prefect_server,
)
from flows.runs.api import Api, end_lost_runs
from flows.runs.outcome import (
    EXPECTED,
    ended,
    log_failed_states_in_one_line,
)
from flows.runs.turns import in_turn
from flows.runs.unrecorded import note_end, noted_ends, send_no_more, stop_if_asked
from pipeline.config import AnalyzeConfig, IngestConfig, LogConfig, NotifyConfig
from pipeline.errors import UsageError
from pipeline.options import Option, config_of, merged
from pipeline.processes.stopping import stop_on_signals
from pipeline.terminal.arguments import Given, read_words
from pipeline.terminal.help_of_stages import HelpOfStages
from pipeline.terminal.progress_display import ProgressDisplay
from pipeline.terminal.summaries import (
    print_analyze,
    print_compare,
    print_ingest,
    print_warnings,
)

if TYPE_CHECKING:
    from pipeline.stages.analyze import AnalyzeSummary
    from pipeline.stages.compare import CompareSummary
    from pipeline.stages.ingest import IngestSummary

LAST_EVENTS_WAIT_S = 10.0
MAX_DATA_AGE_H = 48  # of the newest trace, before a night warns of it: one night may be late

OPTIONS = merged(IngestConfig, AnalyzeConfig, NotifyConfig)


def _word(option: Option) -> Option:
    """An option as this command line takes it: inputs may also come from their variable."""
    if not option.is_argument:
        return option
    help = f"{option.help.rstrip('.')}; separated by {os.pathsep!r} in the variable."
    return dataclasses.replace(option, metavar=None, help=help, show_variable=True)


_WORDS = tuple(_word(each) for each in merged(IngestConfig, AnalyzeConfig, NotifyConfig, LogConfig))
_ABOUT = """Example: python -m flows.nightly night/ --store mystore --out reports

Ingest, measure, report, compare as the nightly Prefect flow; starts its own server."""


@dataclasses.dataclass(frozen=True)
class NightlySummary:
    """The outcome of a nightly run.

    ``not_compared``: why comparing failed, if it did, or with which nights, since they are broken.
    ``old_data``: what is wrong with the age of its newest trace, if anything.
    ``as2org``: the file of organisations that it was given.
    """

    ingested: IngestSummary
    analyzed: AnalyzeSummary
    compared: CompareSummary | None
    not_compared: list[str]
    old_data: str = ""
    as2org: Path | None = None

    @property
    def complete(self) -> bool:
        return self.ingested.complete and self.analyzed.complete and not self.not_compared

    @property
    def warnings(self) -> list[str]:
        of_changes = self.compared.warnings if self.compared else []
        # The run has compared again what the report left out; ingest has said what both say.
        said = {*self.ingested.warnings, *([self.analyzed.report.left_out] * bool(self.compared))}
        return [
            *self.ingested.warnings,
            *(line for line in self.analyzed.warnings if line not in said),
            *of_changes,
            *self.not_compared,
        ]


log_failed_states_in_one_line()


def name_of_run() -> str:
    """The night of a run, if it is given, or else when it was to begin; its snapshot follows."""
    snapshot = (flow_run.parameters or {}).get("snapshot") or os.environ.get("HOPSCOPE_SNAPSHOT")
    return snapshot or f"night of {flow_run.scheduled_start_time:%Y-%m-%d %H:%M}"


@flow(name="nightly", flow_run_name=name_of_run, persist_result=False)
@with_parameters(OPTIONS)
def nightly(**parameters: Any) -> State:
    """Read the inputs into a snapshot, measure its ASes, report, compare with the night before.

    Parameters are those of ``hopscope run``, and those of notices. What is not given
    comes from HOPSCOPE_INPUTS, HOPSCOPE_STORE, HOPSCOPE_OUT and the other HOPSCOPE_* variables.
    """
    try:
        notify = config_of(NotifyConfig, given_values(OPTIONS, parameters))
    except EXPECTED as error:
        return Failed(message=in_one_line(error))
    try:
        state = _in_turn(parameters)
    except Exception as error:  # a fault of the program: Prefect logs it and ends the run
        _tell(
            notify,
            Failed(message=f"the run ended with an unexpected error: {type(error).__name__}"),
        )
        raise
    _tell(notify, state)
    return state


def _in_turn(parameters: Mapping[str, Any]) -> State:
    try:
        ingest_config, analyze_config = _checked(parameters)
    except EXPECTED as error:
        return Failed(message=in_one_line(error))
    night = functools.partial(shown_night, ingest_config, analyze_config)
    return in_turn(ingest_config.store, night, makes_store=True)


def _tell(config: NotifyConfig, state: State) -> None:
    """Send notices of a run that ends, if there is something to report and it had its turn."""
    note_end(state)
    if not (state.is_completed() or state.is_failed()):
        return
    notice = make_notice(_outcome(state, config), config)
    if notice is None:
        return
    emit(notice)
    if config.notify or config.notify_command:
        from flows.notices.quiet import is_held  # a second, not needed without notices
        from flows.notices.send import send

        if not is_held(notice, config):
            send(notice, config)


def _outcome(state: State, config: NotifyConfig) -> NightOutcome:
    context = FlowRunContext.get()
    run = context.flow_run.name if context and context.flow_run else ""
    message = state.message or ""
    if state.is_failed():
        return NightOutcome("failed", run, message)
    summary = cast("NightlySummary", state.data)
    report, compared = summary.analyzed, summary.compared
    folder = report.index.parent
    out, link = folder.parent, report_link(report.index, folder.parent)
    outcome = NightOutcome(
        "complete" if summary.complete else "partial",
        run,
        message,
        summary.warnings,
        report.snapshot,
        report=link,
        old_data=summary.old_data,
        as_page=as_page_of(folder, link),
    )
    if compared is None:
        return outcome
    return dataclasses.replace(
        outcome,
        old=compared.old,
        events=events_of(folder) or compared.events,
        n_events=compared.n_events,
        changes=report_link(compared.page, out),
        earlier=events_before(out, report.snapshot, config.notify_again),
        asns=wanted_asns(config, folder, out / compared.old, as2org=summary.as2org),
    )


def _configs(parameters: Mapping[str, Any]) -> tuple[IngestConfig, AnalyzeConfig]:
    given = given_values(OPTIONS, parameters)
    given["max_data_age"] = given.get("max_data_age") or MAX_DATA_AGE_H
    return config_of(IngestConfig, given), config_of(AnalyzeConfig, given)


def _checked(parameters: Mapping[str, Any]) -> tuple[IngestConfig, AnalyzeConfig]:
    """The same, if a run can read its inputs and write where it is to write.

    Raises
    ------
    UsageError
        If an option is missing or wrong, or ``out`` must not be written to.
    """
    from pipeline.stages.places import check_run  # imports that take seconds, not needed to deploy

    ingest_config, analyze_config = _configs(parameters)
    check_run(ingest_config, analyze_config)
    return ingest_config, analyze_config


def shown_night(
    ingest_config: IngestConfig, analyze_config: AnalyzeConfig, *, with_next: bool = True
) -> State:
    """All stages of a night, as metrics show them; the state that the flow ends with.

    ``with_next``: a later night that is there is compared with this one.
    """
    from pipeline.stages.run_metrics import stages_of_a_run  # not needed to deploy

    with contextlib.suppress(OSError):  # the stage that needs it says so
        # So that a first night is counted too, however it ends.
        analyze_config.out.mkdir(parents=True, exist_ok=True)
    with stages_of_a_run(ingest_config.store, analyze_config.out):
        return _night(ingest_config, analyze_config, with_next)


def _night(ingest_config: IngestConfig, analyze_config: AnalyzeConfig, with_next: bool) -> State:
    """The stages, one after the other; the state that the flow ends with."""
    found, failure = ingested(ingest_config)
    if failure is not None:
        return failure
    show_name(found.snapshot)
    # From here on this one version, which is not removed before the report is written.
    analyze_config = dataclasses.replace(
        analyze_config, snapshot=found.snapshot, version=found.version
    )
    report, failure = analyzed(analyze_config)
    if failure is not None:
        show_warnings(found.warnings, complete=found.complete)
        return failure
    places = analyze_config.store, analyze_config.out
    compared, not_compared = compared_with_night_before(*places, found.snapshot)
    not_compared += next_compared(*places, found.snapshot) if with_next else []
    from pipeline.stages.analyze import without_old_nights  # not needed to deploy

    # Only now: the night to compare with may be one of those that go.
    report = without_old_nights(analyze_config, report)
    summary = NightlySummary(
        found, report, compared, not_compared, _old_data(analyze_config), ingest_config.as2org
    )
    show_warnings(summary.warnings, complete=summary.complete)
    return ended(f"report of {found.snapshot}", summary, complete=summary.complete)


def _old_data(config: AnalyzeConfig) -> str:
    """What is wrong with the age of the newest trace of a report; empty: nothing."""
    from pipeline.report.folder import report_of
    from pipeline.stages.freshness import old_data, time_of_newest

    facts = report_of(config.out / str(config.snapshot)) or {}
    return old_data(time_of_newest(facts), config.max_data_age or MAX_DATA_AGE_H)


def words_given(arguments: list[str]) -> Given | None:
    """Options from the words of a command line and variables; None: ``--help`` was printed.

    Raises
    ------
    UsageError
        If an option is unknown, missing or wrong.
    """
    return read_words(_WORDS, arguments, "python -m flows.nightly", _ABOUT, HelpOfStages)


def main(arguments: list[str]) -> int:
    """Run the flow here and print what ``hopscope run`` prints; returns the exit status."""
    _quiet_terminal()
    warn_of_limits()
    with stop_on_signals() as stopping:
        try:
            given = words_given(arguments)
            if given is None:
                return 0
            parameters = parameters_of(OPTIONS, {name: given.values[name] for name in given.chosen})
            _checked(parameters)  # rather than after the seconds in which a server starts
            run = _run_on_named_server if PREFECT_API_URL.value() else _run_on_own_server
            state = run(parameters)
        except (KeyboardInterrupt, TerminationSignal):
            fail("stopped")
            return stopping.exit_status
        except EXPECTED as error:
            fail(in_one_line(error))
            return stopping.exit_status if stopping.is_asked else 2
    if not state.is_completed():
        fail(state.message or f"the flow run ended {state.name}")
        return 2
    summary: NightlySummary = state.result()
    print_warnings(summary.warnings)
    print_ingest(summary.ingested)
    print_analyze(summary.analyzed)
    if summary.compared is not None:
        print_compare(summary.compared)
    elif not summary.not_compared:
        print_line("Changes: none shown, no earlier night of traces has a report to compare with")
    return 0 if summary.complete else 1


def _quiet_terminal() -> None:
    """Only the stages' own progress on the terminal; Prefect's lines are in the log of the run."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, PrefectConsoleHandler):
            handler.setLevel(logging.CRITICAL + 1)


def _run(parameters: dict[str, Any]) -> State:
    with ProgressDisplay() as display, listening(display):
        state: Any = nightly(**parameters, return_state=True)
        return state


def _run_on_named_server(parameters: dict[str, Any]) -> State:
    with get_client(sync_client=True) as client:
        error = client.api_healthcheck()
    if error is not None:
        url = str(PREFECT_API_URL.value())
        user, at, _ = urllib.parse.urlsplit(url).netloc.rpartition("@")  # may hold a password
        why = " ".join(str(error).split())
        text = (
            f"the Prefect server at PREFECT_API_URL={url} does not answer ({why}): start it, or "
            "unset the variable for a run on a temporary server"
        )
        raise UsageError(text.replace(user + at, "") if user else text)
    return _run(parameters)


def _run_on_own_server(parameters: dict[str, Any]) -> State:
    log = prefect_home() / "server.log"
    with prefect_server(free_port(), log, ui=False, scheduler=False) as server:
        for stage in ("ingest", "analyze", "compare"):  # seconds, while the server starts
            importlib.import_module(f"pipeline.stages.{stage}")
        server.wait()
        api = Api(server.api_url, auth_string())
        end_lost_runs(api.patient())
        api_of_server = {PREFECT_API_URL: api.url, PREFECT_API_AUTH_STRING: api.auth}
        with (
            temporary_settings(api_of_server),
            kept_running(server, send_no_more),
            noted_ends() as ends,
        ):
            try:
                return _run(parameters)
            except Exception as error:
                if not server.given_up:
                    raise
                stop_if_asked(error)
                if not ends:
                    raise UsageError(f"{server.given_up}; see {server.log}") from error
                return ends[-1]
            finally:
                _send_the_rest()


def _send_the_rest() -> None:
    """Wait for events and log lines to be sent; without a server they would wait for it."""
    EventsWorker.drain_all(timeout=LAST_EVENTS_WAIT_S)
    APILogWorker.drain_all(timeout=LAST_EVENTS_WAIT_S)


if __name__ == "__main__":
    sys.exit(status_of(main))
