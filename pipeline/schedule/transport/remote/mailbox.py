"""Results that workers post to a client, given to the run that waits for them.

The topic is the client's own id, since a scheduler forgets the events of a client when it leaves.
Dask knows one handler per topic, so runs that share a client share its mailbox.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary, ref

from distributed import Client
from distributed.client import ClosedClientError

from pipeline.schedule.transport.remote.attempt import POSTED

_LOCK = threading.Lock()
_MAILBOXES: WeakKeyDictionary[Client, Mailbox] = WeakKeyDictionary()


class Mailbox:
    """Messages for one client; ``open_mailbox`` makes it, and each opener closes it once."""

    def __init__(self, client: Client) -> None:
        self._client = ref(client)
        self._n_open = 0
        self._waiting: dict[tuple, SimpleQueue] = {}

    def expect(self, keys: Iterable[tuple], done: SimpleQueue) -> None:
        """Put (key, posted bytes) in ``done`` when it comes."""
        self._waiting.update(dict.fromkeys(keys, done))

    def forget(self, keys: Iterable[tuple]) -> None:
        """Stop expecting these."""
        for key in keys:
            self._waiting.pop(key, None)

    def deliver(self, event: tuple[float, Any]) -> None:
        """Called on the client's loop; the scheduler sends other events too."""
        message = event[1]
        if not isinstance(message, dict) or POSTED not in message:
            return
        key, posted = message[POSTED]
        if (done := self._waiting.pop(tuple(key), None)) is not None:
            done.put((tuple(key), posted))

    def open(self) -> None:
        """Make the scheduler send posted results, if it does not yet."""
        with _LOCK:
            self._n_open += 1
            if self._n_open == 1 and (client := self._client()) is not None:
                client.subscribe_topic(client.id, self.deliver)

    def close(self) -> None:
        """Called once by each opener; the last one ends the subscription."""
        with _LOCK:
            self._n_open -= 1
            client = self._client()
            if self._n_open == 0 and client is not None and client.status == "running":
                # Otherwise a scheduler would try to notify a client that has left.
                with contextlib.suppress(ClosedClientError):
                    client.unsubscribe_topic(client.id)


def open_mailbox(client: Client) -> Mailbox | None:
    """The mailbox of a client; None if it has just been closed."""
    with _LOCK:
        mailbox = _MAILBOXES.setdefault(client, Mailbox(client))
    try:
        mailbox.open()
    except ClosedClientError:
        return None
    return mailbox
