"""Notices by themselves: ``hopscope notify``, and the flow that sends those that waited."""

from __future__ import annotations

import sys
from typing import Any

from flows.processes.missing import why_no_prefect
from pipeline.terminal.lines import fail, print_line, status_of

if __name__ == "__main__" and (missing := why_no_prefect("notify")):
    fail(missing)
    sys.exit(2)

from prefect import flow
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, Failed, State

from flows.notices.automations import renew_automations
from flows.notices.notice import SCHEMA, SCHEMA_VERSION, Notice
from flows.notices.ready import not_ready
from flows.options import with_config
from flows.processes.server import auth_string
from flows.runs.api import Api, why_failed
from pipeline.config import NotifyActions, NotifyConfig
from pipeline.errors import UsageError
from pipeline.options import merged
from pipeline.terminal.arguments import read_words

OPTIONS = merged(NotifyActions, NotifyConfig)
_ABOUT = """Example: hopscope notify --test --notify slack-webhook/nights

Try notices: blocks are those of the Prefect server at PREFECT_API_URL, named by --notify or
HOPSCOPE_NOTIFY as for nightly runs."""


@flow(name="notify", persist_result=False)
@with_config(NotifyConfig, notice=dict[str, Any])
def notify(config: NotifyConfig, notice: dict[str, Any]) -> State:
    """Send a notice that has waited for the end of quiet hours.

    Args:
        notice: What is sent: subject, body, facts.
    """
    from flows.notices.send import send

    failed = send(Notice(notice["subject"], notice["body"], notice["facts"]), config)
    return Failed(message="; ".join(failed)) if failed else Completed(message=notice["subject"])


def sample_notice() -> Notice:
    """What ``--test`` sends."""
    facts: dict[str, Any] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
    facts |= {"status": "complete", "run": "test", "message": "a test", "snapshot": "", "old": ""}
    facts |= {"n_events": 0, "n_known_events": 0, "events": [], "old_data": ""}
    facts |= {"warnings": [], "n_warnings": 0, "report": "", "changes": ""}
    text = "This is a test of notices. Nothing happened. Notices of nights arrive the same way."
    return Notice("hopscope: a test", text, facts)


def main(arguments: list[str]) -> int:
    """Test notices, or make automations; returns the exit status."""
    try:
        given = read_words(OPTIONS, arguments, "hopscope notify", _ABOUT)
        if given is None:
            return 0
        return _notify(given.config(NotifyActions), given.config(NotifyConfig))
    except UsageError as error:
        fail(str(error))
        return 2


def _notify(actions: NotifyActions, config: NotifyConfig) -> int:
    if not actions.test and not actions.automations:
        raise UsageError("give --test, or --automations; see --help")
    url = PREFECT_API_URL.value()
    needs_server = bool(config.notify) or actions.automations
    if needs_server and not url:
        raise UsageError(
            "blocks are on a Prefect server: set PREFECT_API_URL, for hopscope serve to "
            "http://127.0.0.1:4200/api"
        )
    if actions.automations and not config.notify:
        raise UsageError("--automations: give --notify the blocks to which Prefect's server sends")
    if not config.notify and config.notify_command is None:
        raise UsageError("nobody to send to: give --notify TYPE/NAME or --notify-command FILE")
    status = 0
    api = Api(str(url), auth_string()).patient() if needs_server else None
    if api is not None and (lines := not_ready(config, api)):
        raise UsageError("; ".join(lines))
    if actions.test:
        from flows.notices.send import send

        places = [*config.notify, *filter(None, [config.notify_command])]
        failed = send(sample_notice(), config)
        print_line(f"{len(places) - len(failed)} of {len(places)} test messages were sent")
        status = 1 if failed else 0
    if actions.automations and api is not None:
        try:
            for name in renew_automations(config.notify, api):
                print_line(f"Automation: {name}")
        except (OSError, ValueError) as error:
            raise UsageError(f"the automations were not made: {why_failed(error)}") from None
    return status


if __name__ == "__main__":
    sys.exit(status_of(main))
