"""Questions about eccentricities, and their numbers in compiled code."""

from __future__ import annotations

from typing import Literal

Question = Literal["diameter", "radius", "center", "periphery", "eccentricities"]
QUESTIONS: tuple[Question, ...] = ("diameter", "radius", "center", "periphery", "eccentricities")
DIAMETER, RADIUS, CENTER, PERIPHERY, ECCENTRICITIES = range(len(QUESTIONS))
