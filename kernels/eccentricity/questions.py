"""Questions about eccentricities, and their numbers in compiled code."""

from __future__ import annotations

from typing import Literal, get_args

Question = Literal["diameter", "radius", "center", "periphery", "eccentricities"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
DIAMETER, RADIUS, CENTER, PERIPHERY, ECCENTRICITIES = range(len(QUESTIONS))
QUESTIONS_OF_MANY: tuple[Question, ...] = ("center", "periphery", "eccentricities")  # nodes
