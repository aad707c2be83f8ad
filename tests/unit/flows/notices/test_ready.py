"""Blocks and programs that are not there are named before the first night."""

from __future__ import annotations

import http.server
import threading

import pytest

from flows.notices.ready import not_ready
from flows.runs.api import Api
from pipeline.config import NotifyConfig


@pytest.fixture
def prefect():
    """A server that has one block; its API."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            there = self.path == "/block_types/slug/custom-webhook/block_documents/name/nights"
            self.send_response(200 if there else 404)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield Api(f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()
        thread.join()


def test_only_blocks_that_are_not_there_are_named(prefect):
    config = NotifyConfig(notify=("custom-webhook/nights", "custom-webhook/typo"))
    (line,) = not_ready(config, prefect)
    assert line.startswith("there is no notification block custom-webhook/typo yet: make it")


def test_a_server_that_does_not_answer_says_nothing_of_blocks():
    config = NotifyConfig(notify=("custom-webhook/nights",))
    assert not_ready(config, Api("http://127.0.0.1:1")) == []


def test_a_program_must_be_there_and_executable(prefect, tmp_path):
    program = tmp_path / "tell.sh"
    config = NotifyConfig(notify_command=program)
    assert not_ready(config, prefect) == [
        f"{program} cannot be run: it is not there, or not executable"
    ]
    program.write_text("#!/bin/sh\n")
    assert len(not_ready(config, prefect)) == 1
    program.chmod(0o755)
    assert not_ready(config, prefect) == []
