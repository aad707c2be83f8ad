"""A server which answers each request with the next of some statuses, the last one ever after."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator


class Refusing(http.server.ThreadingHTTPServer):
    """``asked``: method and path of each request so far."""

    def __init__(self, codes: list[int], body: bytes):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes, self.body = list(codes), body
        self.asked: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Refusing

    def do_GET(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.asked.append((self.command, self.path))
        codes = self.server.codes
        self.send_response(codes.pop(0) if len(codes) > 1 else codes[0])
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_POST = do_PATCH = do_GET

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def refusing(*codes: int, body: bytes = b"{}") -> Iterator[Refusing]:
    """Serve until the block ends."""
    with Refusing(list(codes), body) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
