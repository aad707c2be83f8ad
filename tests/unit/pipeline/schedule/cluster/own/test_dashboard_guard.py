"""Which requests the dashboard of our own cluster answers."""

from __future__ import annotations

import pytest
from tornado.httputil import HTTPHeaders

from pipeline.schedule.cluster.own.dashboard_guard import is_local


@pytest.mark.parametrize(
    ("bound", "host", "is_answered"),
    [
        ("127.0.0.1", "127.0.0.1:8787", True),
        ("10.0.0.1", "10.0.0.1:8787", True),
        ("10.0.0.1", "10.0.0.2:8787", False),
        ("10.0.0.1", "evil:80@10.0.0.1", False),
        ("fd00::1", "[fd00::1]:8787", True),
        ("0.0.0.0", "0.0.0.0:8787", False),
        ("::", "[::]:8787", False),
        ("::", "[::1]:8787", True),
        ("", "", False),
        ("", ":8787", False),
    ],
)
def test_a_request_names_this_machine_or_what_the_dashboard_listens_on(bound, host, is_answered):
    assert is_local(HTTPHeaders({"Host": host}), bound) == is_answered
    own, other = (
        HTTPHeaders({"Host": host, "Origin": f"http://{name}"}) for name in (host, "evil")
    )
    assert is_local(own, bound) == is_answered
    assert not is_local(other, bound)


def test_two_hosts_are_none():
    headers = HTTPHeaders({"Host": "127.0.0.1"})
    headers.add("Host", "evil.example")
    assert not is_local(headers, "127.0.0.1")
