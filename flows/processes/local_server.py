"""A Prefect server that answers only this machine's programs and its own pages.

It runs what ``prefect server start`` runs, on 127.0.0.1, with a check of each request. Anyone who
can write to Prefect's API can start programs here, and a browser lets every web site send requests
to 127.0.0.1; so it refuses

1. a request for another host than 127.0.0.1 or localhost: a site whose name was made to resolve to
   127.0.0.1 (DNS rebinding) sends its own name;
2. a request from a page of another origin: browsers say which in ``Origin`` with every POST and
   every websocket, programs send none.

Its headers keep other sites from framing its pages (clickjacking), and its pages from asking other
sites: some of Prefect's ask for the settings of an analytics service even where that is off.

``python -m flows.processes.local_server PORT``; settings come from ``PREFECT_*``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pipeline.pages.local_pages import HOST, NAMES, OWN_FRAMES, names_this_machine, origins
from pipeline.terminal import log

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
_OWN = " ".join(f"{scheme}://{name}:*" for scheme in ("http", "ws") for name in NAMES)
_POLICY = f"connect-src 'self' {_OWN}; {OWN_FRAMES['Content-Security-Policy']}"
FRAMES = tuple(
    (name.lower().encode(), value.encode())
    for name, value in (OWN_FRAMES | {"Content-Security-Policy": _POLICY}).items()
)
OPEN_REQUESTS_WAIT_S = 5  # at the end; pages hold websockets open forever


class OnlyThisMachine:
    """ASGI application that passes on permitted requests, and answers 403 to all others.

    Parameters
    ----------
    app : callable
        The application behind it.
    port : int
        On which its own pages are served.
    """

    def __init__(self, app: App, port: int):
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins(port))

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan" or self._is_allowed(scope["headers"]):
            await self._app(scope, receive, _unframed(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            text = b"only for programs and pages of this machine\n"
            await send({"type": "http.response.body", "body": text})

    def _is_allowed(self, headers: list[tuple[bytes, bytes]]) -> bool:
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        pages = [value.lower() for name, value in headers if name == b"origin"]
        return (
            len(hosts) == 1
            and names_this_machine(hosts[0])
            and all(page in self._origins for page in pages)
        )


def _unframed(send: Callable[[Message], Awaitable[None]]) -> Callable[[Message], Awaitable[None]]:
    """Sends with the headers that keep answers out of frames of other sites."""

    async def send_unframed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *FRAMES]}
        await send(message)

    return send_unframed


def main(arguments: list[str]) -> None:
    """Serve until SIGINT or SIGTERM."""
    gc.disable()  # what is imported stays: to look for garbage in it takes a tenth of the start
    import uvicorn
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    port = int(arguments[0])
    settings = get_current_settings().server
    app = OnlyThisMachine(create_app(final=True), port)
    gc.freeze()
    gc.enable()
    uvicorn.run(
        app,
        host=HOST,
        port=port,
        timeout_keep_alive=settings.api.keepalive_timeout,
        ws_ping_interval=settings.api.websocket_ping_interval,
        ws_ping_timeout=settings.api.websocket_ping_timeout,
        timeout_graceful_shutdown=OPEN_REQUESTS_WAIT_S,
        log_level=settings.logging_level.lower(),
        # None: as Prefect has set its loggers up, in the form that we gave it.
        log_config=None if log.is_json() else uvicorn.config.LOGGING_CONFIG,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
