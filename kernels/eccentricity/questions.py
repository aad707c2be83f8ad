"""What can be asked about eccentricities, and the numbers that compiled code knows it by."""

from __future__ import annotations

from typing import Literal

Question = Literal["diameter", "radius", "center", "periphery", "eccentricities"]
QUESTIONS: tuple[Question, ...] = ("diameter", "radius", "center", "periphery", "eccentricities")
DIAMETER, RADIUS, CENTER, PERIPHERY, ECCENTRICITIES = range(len(QUESTIONS))
