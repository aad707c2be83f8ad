"""A step of a command in one line, whatever the width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pipeline.model.progress import Progress
from pipeline.terminal import progress_display
from pipeline.terminal.progress_display import ProgressDisplay
from pipeline.terminal.step_line import StepState, columns, cut, step_line

SEARCH = StepState("Searching", 300, 1200, "ASes", 30.0, 0.5, "bfs_AS3356, 12 of 40 tasks")


def test_share_and_time_left_are_by_work_and_not_by_count():
    line = step_line(SEARCH, 120, is_ascii=True)
    assert line.split(" ", 1)[1] == (
        "Searching ########--------  50 % 300 of 1,200 ASes 10/s 30 s left "
        "bfs_AS3356, 12 of 40 tasks"
    )


@pytest.mark.parametrize(
    ("width", "gone"),
    [
        (80, "12 of"),  # the detail loses its last part
        (72, "bfs"),  # and gone
        (60, "####"),
        (40, "1,200"),
        (30, "10/s"),
        (20, "left"),
    ],
)
def test_what_does_not_fit_gives_way_details_first(width, gone):
    line = step_line(SEARCH, width, is_ascii=True)
    assert gone not in line
    assert columns(line) <= width
    assert "Searching" in line


def test_at_80_columns_all_but_details_is_there():
    line = step_line(SEARCH, 80, is_ascii=True)
    for part in ("Searching", "########--------", "50 %", "300 of 1,200 ASes", "10/s", "30 s left"):
        assert part in line


def test_a_detail_loses_whole_parts():
    compiling = StepState(
        "Reading", 0, 14, "files", 10.0, 0.0, "compiling once, about a minute, 3,330 traces"
    )
    shown = [step_line(compiling, width, is_ascii=True) for width in (120, 85, 80, 66)]
    assert [line.split(" 10.0 s")[1].strip() for line in shown] == [
        "compiling once, about a minute, 3,330 traces",
        "compiling once, about a minute",
        "compiling once",
        "compiling...",
    ]


def test_a_step_of_one_thing_has_no_bar_and_an_ended_one_its_time():
    building = StepState("Building AS graphs", 0, 1, "graphs", 3.0)
    assert step_line(building, 80, is_ascii=True)[2:] == "Building AS graphs 3.0 s"
    ended = StepState("Searching", 1200, 1200, "ASes", 61.0, 1.0, "", has_ended=True)
    assert step_line(ended, 80, is_ascii=True) == "* Searching 1,200 ASes 20/s 61 s"


def test_no_time_left_is_guessed_at_the_beginning():
    early = StepState("Searching", 1, 1000, "ASes", 1.0)
    assert "left" not in step_line(early, 80)


def test_no_time_left_is_guessed_where_the_last_task_takes_longer_than_expected():
    late = StepState("Searching", 300, 301, "ASes", 20.0, 0.99)
    assert "99 %" in step_line(late, 80)
    assert "left" not in step_line(late, 80)


@given(
    st.builds(
        StepState,
        st.sampled_from(["Reading", "Inferring links and borders"]),
        st.integers(0, 10**9),
        st.integers(0, 10**9),
        st.sampled_from(["files", "ASes", ""]),
        st.floats(0, 1e6),
        st.none() | st.floats(-1, 2),
        st.text("ab 名é", max_size=40),
        st.booleans(),
    ),
    st.integers(8, 200),
    st.booleans(),
)
def test_a_line_never_exceeds_the_terminal(state, width, is_ascii):
    line = step_line(state, width, is_ascii)
    assert columns(line) <= width
    assert "\n" not in line


def test_wide_letters_count_twice():
    assert columns("名a") == 3
    assert cut("名名名名", 7) == "名名..."
    assert cut("abc", 3) == "abc"


def test_a_terminal_of_80_columns_shows_whole_lines(monkeypatch):
    said = io.StringIO()
    console = Console(file=said, force_terminal=True, width=80, legacy_windows=False)
    monkeypatch.setattr(progress_display, "Console", lambda **_: console)
    with ProgressDisplay() as display:
        display(Progress("start", 0, 0, "workers", "2 on cores"))
        display(Progress("search", 40, 100, "ASes", "bfs_AS3356, " * 20, 0.4))
        display(Progress("search", 100, 100, "ASes", "12 tasks", 1.0))
    starting, searching = [line for line in said.getvalue().splitlines() if "✓" in line][-2:]
    assert "✓ Starting workers" in starting
    assert "✓ Searching 100 ASes" in searching
    assert "%" not in searching
