"""Lines of JSON on stderr: their fields, one record a line, no control characters."""

from __future__ import annotations

import datetime
import json
import logging
import os
import subprocess
import sys
import warnings

import pytest

from pipeline.cli import main
from pipeline.terminal import log
from pipeline.terminal.lines import fail, warn
from tests.real_data import REPOSITORY


def record(message, *args, name="pipeline.schedule", level=logging.WARNING, **extra):
    made = logging.LogRecord(name, level, __file__, 1, message, args, None)
    vars(made).update(extra)
    return made


def parsed(*given, **named):
    return json.loads(log.line_of(record(*given, **named)))


@pytest.fixture(autouse=True)
def context():
    log.about(run=None, step=None)  # commands of other tests have set it
    yield
    log.about(run=None, step=None)


@pytest.fixture
def as_json(context, capsys):
    """This process writes JSON, and nothing else does; afterwards as before.

    Tests before may have left handlers of Prefect and of Dask, which write on stderr too.
    """
    root, hook, handlers = logging.getLogger(), sys.excepthook, logging.getLogger().handlers
    levels = {name: logging.getLogger(name).level for name in (log.OWN, "pipeline")}
    root.handlers = []
    log.start("json")
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    logging.captureWarnings(False)
    root.handlers = handlers
    sys.excepthook = hook
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def test_a_line_has_time_level_logger_and_message():
    made = record("worker %s was lost", "tls://127.0.0.1:1")
    line = json.loads(log.line_of(made))
    assert list(line) == ["time", "level", "logger", "message"]
    assert (line["level"], line["logger"]) == ("warning", "pipeline.schedule")
    assert line["message"] == "worker tls://127.0.0.1:1 was lost"
    assert line["time"].endswith("Z")
    when = datetime.datetime.fromisoformat(line["time"])
    assert when.timestamp() == pytest.approx(made.created, abs=1e-5)


def test_run_and_step_are_in_a_line_while_they_are_known(context):
    log.about(run="4f", step="search")
    assert parsed("a")["run"] == "4f"
    assert parsed("a")["step"] == "search"
    log.about(step=None)
    assert "step" not in parsed("a")
    assert parsed("a", flow_run_id="of Prefect")["run"] == "of Prefect"


@pytest.mark.parametrize(
    ("message", "asn"),
    [
        ("task bfs_AS3356 failed", 3356),
        ("widths_AS3356 of AS3356", 3356),
        ("shard_AS1_AS99 failed", None),
        ("AS 3356", None),
        ("BIAS3356, AS3356x", None),
        ("no AS", None),
    ],
)
def test_the_one_as_that_a_line_names_is_a_field(message, asn):
    assert parsed(message).get("asn") == asn


def test_an_as_that_was_given_comes_before_what_the_text_names():
    assert parsed("of AS1 and AS2", asn=3)["asn"] == 3


def test_a_sum_for_people_is_about_no_single_as():
    assert "asn" not in parsed("12 ASes failed, the first is AS1", name=log.OWN)


def test_hostile_text_stays_on_one_line_of_ascii():
    hostile = 'a\nb\x1b[31m\u202e\ud800 "quoted"'
    text = log.line_of(record("%s", hostile))
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text)["message"] == hostile.replace("\ud800", "?")


def test_an_exception_has_its_traceback():
    error = ValueError("no such thing")
    line = parsed("failed", exc_info=(ValueError, error, None))
    assert "ValueError: no such thing" in line["exception"]
    assert line["message"] == "failed"


def test_text_leaves_everything_as_it_is(capsys):
    handlers = list(logging.getLogger().handlers)
    log.start("text")
    assert logging.getLogger().handlers == handlers
    warn("a\x1bfile")
    assert capsys.readouterr().err == "hopscope: a\N{REPLACEMENT CHARACTER}file\n"


def test_all_that_is_said_is_one_object_a_line(as_json):
    warn("left out")
    fail("nothing done")
    logging.getLogger("pipeline.stages").info("AS%d: %s", 5, "why", extra={"asn": 5})
    logging.getLogger("others").info("not shown")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old thing", DeprecationWarning, stacklevel=1)
    lines = as_json()
    assert [line["level"] for line in lines] == ["warning", "error", "info", "warning"]
    assert [line["message"] for line in lines[:3]] == ["left out", "nothing done", "AS5: why"]
    assert lines[2]["asn"] == 5
    assert "old thing" in lines[3]["message"]


def test_a_second_start_adds_nothing(as_json):
    log.start("json")
    warn("once")
    assert len(as_json()) == 1


FAULT = """
from pipeline.cli import main
from pipeline.terminal import log
log.start("json")
raise RuntimeError("a fault of the program")
"""


def test_a_fault_of_the_program_is_a_line_too():
    done = subprocess.run(
        [sys.executable, "-c", FAULT],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    (line,) = map(json.loads, done.stderr.splitlines())
    assert line["level"] == "critical"
    assert "a fault of the program" in line["exception"]


@pytest.mark.parametrize("by", ["word", "variable"])
def test_a_wrong_option_is_said_in_the_form_that_was_asked_for(by):
    words = ["--log-format", "json"] if by == "word" else []
    words = ["analyze", "--store", "s", "--out", "o", "--workers", "0", *words]
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words],
        cwd=REPOSITORY,
        env=os.environ | ({log.FORMAT_VARIABLE: "json"} if by == "variable" else {}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    (line,) = map(json.loads, done.stderr.splitlines())
    assert line["level"] == "error"
    assert "--workers" in line["message"]
    assert line["run"]


def test_steps_are_said_where_a_library_has_put_the_handler_in_place(as_json):
    logging.getLogger(log.OWN).setLevel(logging.NOTSET)
    log.start("json")
    logging.getLogger(log.OWN).info("a step")
    assert [line["message"] for line in as_json()] == ["a step"]


@pytest.mark.parametrize(("given", "is_wrong"), [("xml", True), ("text", False), ("", False)])
def test_a_format_that_cannot_be_is_refused_by_commands_that_have_no_option_for_it(
    tmp_path, monkeypatch, capsys, given, is_wrong
):
    monkeypatch.setenv("HOPSCOPE_LOG_FORMAT", given)
    with pytest.raises(SystemExit):
        main(["status", "--store", str(tmp_path)])
    said = capsys.readouterr().err
    assert said == (
        "hopscope: HOPSCOPE_LOG_FORMAT takes text, json, not 'xml'\n" if is_wrong else ""
    )
