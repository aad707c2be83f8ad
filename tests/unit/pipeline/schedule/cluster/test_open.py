"""The link to a dashboard is shown unless what is there says that it has no such page."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest

from flows.processes.server import free_port
from pipeline.schedule.cluster.open import dashboard_link


@pytest.mark.parametrize(
    ("status", "is_shown"),
    [(404, False), (405, True), (200, True), (403, True), (500, True)],
)
def test_a_page_that_is_not_there_has_no_link(monkeypatch, status, is_shown):
    class Page(BaseHTTPRequestHandler):
        def do_HEAD(self):
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *words):
            pass

    asked: list[str] = []
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        link = f"http://127.0.0.1:{server.server_port}/status"
        assert dashboard_link(SimpleNamespace(dashboard_link=link)) == (link if is_shown else "")
        server.shutdown()
        thread.join()
    assert asked == ["/status"]


def test_a_link_that_cannot_be_followed_from_here_is_kept():
    """As behind a firewall, or one of a notebook server, which is relative to its own."""
    for link in (f"http://127.0.0.1:{free_port()}/status", "/user/a/proxy/8787/status"):
        assert dashboard_link(SimpleNamespace(dashboard_link=link)) == link
    assert dashboard_link(SimpleNamespace(dashboard_link=None)) == ""
