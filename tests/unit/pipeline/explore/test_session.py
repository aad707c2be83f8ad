"""What the page learns about a job, with answers that are given here."""

from __future__ import annotations

import queue
import threading

import pytest

from pipeline.errors import UsageError
from pipeline.explore.session import Session

SHOWN = dict.fromkeys(("algorithm", "graph", "size", "source", "target", "text", "seconds"), "")
UNCHECKED = {"kind": "unchecked", "result": SHOWN | {"checking": True}}
CHECKED = {"kind": "result", "result": SHOWN | {"checking": False}}


class Answers:
    """A connection whose other end gives these answers, and then is gone."""

    def __init__(self, session: Session, answers: list[dict]):
        self.states: list[dict] = []
        self._session, self._answers = session, iter(answers)

    def send(self, _: object) -> None:
        pass

    def recv(self) -> dict:
        self.states.append(self._session.state())
        try:
            return next(self._answers)
        except StopIteration:
            raise EOFError from None

    def close(self) -> None:
        pass


def answered(*answers: dict) -> tuple[Session, list[dict]]:
    """A session after a search, and its state before each answer was there."""
    session = Session(None)
    connection = Answers(session, list(answers))
    session._connection, session._process = connection, None
    session.begin({"do": "search"})
    session._jobs.put(None)
    session._run()
    return session, connection.states


def test_a_result_is_there_while_it_is_checked():
    session, states = answered(UNCHECKED, CHECKED)
    assert [state["number"] for state in states] == [0, 1]
    assert states[1]["result"]["checking"]
    assert states[1]["job"] is not None
    assert states[1]["history"] == []
    state = session.state()
    assert (state["number"], state["job"], state["error"]) == (2, None, "")
    assert not state["result"]["checking"]
    assert len(state["history"]) == 1


@pytest.mark.parametrize("end", [{"kind": "error", "message": "wrong result"}, None])
def test_a_result_that_was_never_checked_does_not_stay(end):
    session, _ = answered(UNCHECKED, *([end] if end else []))
    state = session.state()
    assert state["result"] is None
    assert state["job"] is None
    assert state["history"] == []
    assert state["error"].startswith("wrong result" if end else "it ended unexpectedly")


def asked(*answers: dict) -> tuple[Session, threading.Thread]:
    """A session to which a question was put after a search."""
    session, _ = answered(UNCHECKED, CHECKED)
    session._connection, session._process = Answers(session, list(answers)), None
    thread = threading.Thread(target=session._run)
    thread.start()
    return session, thread


def test_a_question_is_answered_and_changes_nothing_that_is_shown():
    session, thread = asked({"kind": "rows", "rows": {"n_rows": 3}})
    before = session.state()
    assert session.ask({"do": "rows"}) == {"n_rows": 3}
    session._jobs.put(None)
    thread.join(timeout=10)
    assert session.state() == before


def test_a_question_that_fails_says_why():
    session, thread = asked({"kind": "error", "message": "too little memory"})
    with pytest.raises(UsageError, match="too little memory"):
        session.ask({"do": "rows"})
    with pytest.raises(UsageError, match="it ended unexpectedly"):  # its process is gone
        session.ask({"do": "rows"})
    with pytest.raises(UsageError, match="search again"):
        session.ask({"do": "rows"})
    session._jobs.put(None)
    thread.join(timeout=10)
    assert session.state()["job"] is None


def test_a_search_that_begins_during_a_question_comes_after_it():
    session, _ = answered(UNCHECKED, CHECKED)
    session._connection = Answers(
        session, [{"kind": "rows", "rows": {"n_rows": 3}}, UNCHECKED, CHECKED]
    )
    session._jobs.put({"do": "rows", "reply": (reply := queue.Queue())})
    session.begin({"do": "search"})
    session._jobs.put(None)
    session._run()
    assert reply.get()["rows"] == {"n_rows": 3}
    assert session.state()["error"] == ""
    assert len(session.state()["history"]) == 2


def test_nothing_is_asked_during_a_search():
    session = Session(None)
    session.begin({"do": "search"})
    with pytest.raises(UsageError, match="in progress"):
        session.ask({"do": "rows"})
