"""A server that is gone says so at once, to requests of any kind."""

import socket

import httpx
import pytest

from flows.processes.gone import answering_gone
from flows.processes.server import free_port
from pipeline.pages.local_pages import HOST


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE"])
def test_each_request_is_answered_with_gone(method):
    port = free_port()
    with answering_gone(port):
        for content in (b"", b"x" * 5_000_000):  # more than a socket holds
            answer = httpx.request(method, f"http://{HOST}:{port}/api/logs/", content=content)
            assert answer.status_code == 410


def test_the_port_is_free_afterwards():
    port = free_port()
    with answering_gone(port):
        pass
    with socket.socket() as probe:
        assert probe.connect_ex((HOST, port)) != 0


def test_a_port_that_is_taken_is_an_error():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"), answering_gone(taken.getsockname()[1]):
            pass
