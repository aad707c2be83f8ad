from __future__ import annotations

from tests.served import served

__all__ = ["served"]
