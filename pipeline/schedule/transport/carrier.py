"""What takes attempts to the executor, and reports their outcome: to a cluster, or in process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.schedule.transport.clock import Clock
from pipeline.schedule.transport.events import Event, Key


@dataclass(frozen=True, slots=True)
class Submission:
    """One attempt to be sent; ``workers``: those that may run it, None: any."""

    key: Key
    task: Any
    workers: list[str] | None = None
    is_urgent: bool = False

    @property
    def kind(self) -> str:
        """Of the work; empty: unknown."""
        return getattr(self.task, "kind", "")

    @property
    def way(self) -> tuple[list[str] | None, bool, str]:
        """What attempts have in common that are sent together."""
        return self.workers, self.is_urgent, self.kind


class Overview(Protocol):
    """What is known of the workers, by their addresses."""

    gone: str  # why nothing can be carried any longer; empty while it can

    @property
    def clock(self) -> Clock:
        """Of ``quiet``."""

    @property
    def threads(self) -> Mapping[str, int]:
        """Threads of each."""

    @property
    def status(self) -> Mapping[str, str]:
        """Of each, "running", "paused", "silent", "mute", ..."""

    @property
    def processing(self) -> Mapping[str, Any]:
        """Keys that each was given."""

    @property
    def quiet(self) -> Mapping[str, float]:
        """Seconds without a heartbeat of each."""

    @property
    def free(self) -> frozenset[str]:
        """Those where nothing ran when last heard of."""

    @property
    def lost(self) -> bool:
        """Whether nothing can be carried any longer."""

    @property
    def answers(self) -> bool:
        """Whether the last look was answered."""

    @property
    def silent(self) -> set[str]:
        """Workers without a heartbeat."""

    def look(self, force: bool = False) -> bool:
        """Look again, at most every ``Limits.poll_s``; whether it was done now."""


class Carrier(Protocol):
    """One flight's way to the workers. ``close`` cancels what has not ended."""

    @property
    def there(self) -> Overview:
        """The workers."""

    def open(self) -> None:
        """Called once, before anything is sent."""

    def close(self) -> None:
        """Called once; nothing is used after it."""

    def send(self, submissions: Sequence[Submission]) -> bool:
        """Send attempts that share their ``way``; False: the way is lost."""

    def come(self, timeout_s: float) -> Iterator[Event]:
        """Everything that has come, waiting for the first for up to ``timeout_s``."""

    def fetch(self, keys: Sequence[Key]) -> None:
        """Begin to fetch results of attempts that are ``Ready``."""

    def cancel(self, keys: Sequence[Key]) -> None:
        """Forget attempts; nothing more comes for them."""

    def begun(self, worker: str, keys: Sequence[Key]) -> set[Key] | None:
        """Those that a worker has begun; the others never begin there. None: no answer."""

    def can_replace(self, worker: str) -> bool:
        """Whether a worker can be stopped, and another started."""

    def replace(self, worker: str) -> None:
        """Stop a worker; another takes its place."""

    def hold(self, n_tasks: float) -> None:
        """How many tasks a worker thread should hold; many: they are short."""
