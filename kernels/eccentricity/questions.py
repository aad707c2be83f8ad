"""Questions about eccentricities, and their numbers in compiled code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from kernels.arguments import several
from kernels.errors import GraphError

Question = Literal["diameter", "radius", "center", "periphery", "eccentricities"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
DIAMETER, RADIUS, CENTER, PERIPHERY, ECCENTRICITIES = range(len(QUESTIONS))
QUESTIONS_OF_MANY: tuple[Question, ...] = ("center", "periphery", "eccentricities")  # nodes


def checked_questions(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions, each once, in the order of QUESTIONS; GraphError for an unknown one."""
    asked = several(questions, "a list of questions", "['diameter'] asks one")
    unknown = [each for each in asked if not isinstance(each, str) or each not in QUESTIONS]
    if unknown or not asked:
        what = f"unknown question {unknown[0]!r}" if unknown else "no question"
        raise GraphError(f"{what}; use one of {', '.join(QUESTIONS)}")
    return tuple(question for question in QUESTIONS if question in asked)
