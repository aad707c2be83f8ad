"""Whom servers of pages on this machine answer."""

from __future__ import annotations

import pytest

from pipeline.pages.local_pages import names_this_machine, origins

OWN = ["127.0.0.1", "localhost", "LocalHost", "[::1]"]
PORTS = ["", ":", ":80", ":4200", ":65535"]
OTHERS = [
    # A name that anyone can make resolve to 127.0.0.1 (DNS rebinding).
    *("rebind.example", "127.0.0.1.evil.org", "localhost.evil", "evil.localhost", "localhost."),
    *("127.0.0.1.", "127.0.0.2", "0.0.0.0", "127.1", "2130706433", "[::]", "[::1].evil.org"),
    *("evil:80@127.0.0.1", "evil@localhost", "127.0.0.1@evil", "127.0.0.1:80@evil"),
    *("127.0.0.1:80:80", "127.0.0.1:evil", "127.0.0.1:+80", "127.0.0.1:٣", "127.0.0.1:80 evil"),
    *("::1", "[::1", "::1]", "[127.0.0.1]", "[localhost]", "[::ffff:127.0.0.1]", "[::1%lo]"),
    *(" 127.0.0.1", "127.0.0.1 ", "127.0.0.1\n", "127.0.0.1:80\n", "127.0.0.1, evil.org"),
    *("http://127.0.0.1", "127.0.0.1/", "127.0.0.1#", "127.0.0.1\\evil", "\u017flocalhost"),
    *("", ":", ":80", "[]", "None"),
]


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("name", OWN)
def test_a_name_of_this_machine_is_known_with_any_port(name, port):
    assert names_this_machine(name + port)


@pytest.mark.parametrize("port", ["", ":80"])
@pytest.mark.parametrize("host", OTHERS)
def test_anything_else_is_another_machine(host, port):
    assert not names_this_machine(host + port)


def test_without_a_name_it_is_not_known_whom_a_request_is_for():
    assert not names_this_machine(None)
    assert not names_this_machine("", "")
    assert not names_this_machine(":80", "")


@pytest.mark.parametrize(
    ("other", "host"), [("10.0.0.1", "10.0.0.1"), ("fd00::1", "[FD00::1]"), ("lab-1", "LAB-1")]
)
def test_a_machine_may_have_more_names(other, host):
    for said in (host, f"{host}:8787"):
        assert names_this_machine(said, other)
        assert not names_this_machine(said)
    assert not names_this_machine(f"{other}.evil.org", other)


def test_pages_of_a_port_have_two_origins():
    assert origins(4200) == ("http://127.0.0.1:4200", "http://localhost:4200")
