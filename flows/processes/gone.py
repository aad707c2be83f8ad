"""Answers in place of a Prefect server that is not started again: it is gone.

Where nothing answers, Prefect's clients ask again for minutes, since a server may come back; 410
(Gone) they take for final.
"""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from http import HTTPStatus

from pipeline.pages.local_pages import HOST, LocalServer

SILENCE_S = 5.0  # of a client that has connected


@contextlib.contextmanager
def answering_gone(port: int) -> Iterator[None]:
    """Answer each request to a port of this machine with 410 until the block ends.

    Raises
    ------
    OSError
        If another process has the port.
    """
    with LocalServer((HOST, port), _Gone) as server:
        thread = threading.Thread(target=server.serve_forever, name="gone", daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


class _Gone(http.server.BaseHTTPRequestHandler):
    timeout = SILENCE_S

    def refuse(self) -> None:
        # A connection that is closed before all was read is reset, and the client asks again.
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_error(HTTPStatus.GONE)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = refuse

    def log_message(self, format: str, *args: object) -> None:
        pass
