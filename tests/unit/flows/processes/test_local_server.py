"""Prefect's API starts programs, so a web site must not reach it through the user's browser."""

from __future__ import annotations

import asyncio

import pytest

from flows.processes.local_server import OnlyThisMachine

OWN = [(b"host", b"127.0.0.1:4200")]


def ask(headers: list[tuple[bytes, bytes]], kind: str = "http") -> list[dict]:
    """What comes back; ``{"type": "behind"}`` stands for the application behind."""
    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": f"{kind}.connect"}

    async def behind(scope, receive, send):
        await send({"type": "behind"})

    scope = {"type": kind} | ({} if kind == "lifespan" else {"headers": headers})
    asyncio.run(OnlyThisMachine(behind, 4200)(scope, receive, send))
    return sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "headers",
    [
        OWN,
        [(b"host", b"localhost:4200")],
        [(b"host", b"localhost:9000")],  # through a tunnel from another machine
        [*OWN, (b"origin", b"http://127.0.0.1:4200")],
        [*OWN, (b"origin", b"http://localhost:4200")],
    ],
)
def test_programs_and_own_pages_are_answered(kind, headers):
    assert ask(headers, kind) == [{"type": "behind"}]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"host", b"rebind.example:4200")],
        [(b"host", b"127.0.0.1.rebind.example:4200")],
        [(b"host", b"rebind.example"), *OWN],
        [*OWN, (b"origin", b"https://evil.example")],
        [*OWN, (b"origin", b"http://127.0.0.1:8000")],
        [*OWN, (b"origin", b"http://127.0.0.1:4200"), (b"origin", b"https://evil.example")],
        [*OWN, (b"origin", b"null")],
    ],
)
def test_other_hosts_and_pages_of_other_sites_are_refused(headers):
    start, body = ask(headers)
    assert start["status"] == 403
    assert b"access-control-allow-origin" not in dict(start["headers"])
    assert body["type"] == "http.response.body"
    assert ask(headers, "websocket") == [{"type": "websocket.close", "code": 1008}]


def test_answers_stay_out_of_frames_of_other_sites():
    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    async def behind(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})

    scope = {"type": "http", "headers": OWN}
    asyncio.run(OnlyThisMachine(behind, 4200)(scope, None, send))
    headers = dict(sent[0]["headers"])
    assert headers[b"a"] == b"b"
    assert headers[b"x-frame-options"] == b"SAMEORIGIN"
    policy = headers[b"content-security-policy"].decode().split("; ")
    assert policy[1] == "frame-ancestors 'self'"
    asked = policy[0].split()
    assert asked[:2] == ["connect-src", "'self'"]
    assert set(asked[2:]) == {
        f"{scheme}://{name}:*" for scheme in ("http", "ws") for name in ("127.0.0.1", "localhost")
    }


def test_start_and_end_of_the_server_reach_the_application():
    assert ask([], "lifespan") == [{"type": "behind"}]
