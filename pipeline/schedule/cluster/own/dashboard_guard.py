"""The Dask dashboard of our own cluster answers this machine's programs and its own pages only.

A browser lets every web site send requests to 127.0.0.1, and Dask's dashboard takes whatever comes
(its websockets too). Refused (403) is

1. a request for another host than this machine's own names: a site whose name was made to resolve
   to 127.0.0.1 (DNS rebinding) sends its own name;
2. a request from a page of another origin, which browsers give in ``Origin`` with every websocket.

Another port number is allowed: that of the near end of an SSH tunnel. Pages of other sites may not
show its pages in a frame.

The pages are made for the first request that is let in: importing Bokeh keeps a core busy for most
of a second, and few runs are watched. Loaded by Dask's scheduler as a preload
(``distributed.scheduler.preload``), so before its address is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
from distributed import Scheduler
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
)

from pipeline.pages.local_pages import OWN_FRAMES, names_this_machine

REFUSED = b"only for programs and pages of this machine\n"


def dask_setup(scheduler: Scheduler) -> None:
    """Called by Dask as the scheduler starts."""
    server = scheduler.http_server
    server.request_callback = Guard(
        server.request_callback, server.address, lambda: _add_pages(scheduler)
    )


def _add_pages(scheduler: Scheduler) -> None:
    from distributed.dashboard.scheduler import connect

    from pipeline.schedule.cluster import dashboard_page

    dashboard_page.dask_setup(scheduler)
    prefix = dask.config.get("distributed.scheduler.dashboard.prefix", None)
    connect(scheduler.http_application, scheduler.http_server, scheduler, prefix=prefix or "")


def is_local(headers: HTTPHeaders, bound: str) -> bool:
    """Whether a request names this machine, and comes from a page of that name or from none.

    Parameters
    ----------
    headers : HTTPHeaders
    bound : str
        Address that the dashboard listens on: its name, where it is not all interfaces.
    """
    hosts, pages = headers.get_list("Host"), headers.get_list("Origin")
    others = [] if bound in ("0.0.0.0", "::") else [bound.lower()]
    return (
        len(hosts) == 1
        and names_this_machine(hosts[0], *others)
        and all(page.lower() == f"http://{hosts[0]}".lower() for page in pages)
    )


class Guard(HTTPServerConnectionDelegate):
    """Passes permitted requests on to the application."""

    def __init__(self, application: Any, bound: str, add_pages: Callable[[], None]):
        self._application, self._bound = application, bound
        self._add_pages: Callable[[], None] | None = add_pages

    def start_request(
        self, server_conn: object, request_conn: HTTPConnection
    ) -> HTTPMessageDelegate:
        """Called by tornado for each request, before its headers are there."""
        behind = self._application.start_request(server_conn, _Unframed(request_conn))
        return _Guarded(behind, request_conn, self)

    def lets_in(self, headers: HTTPHeaders) -> bool:
        """Whether a request may be passed on; then the pages are made."""
        if not is_local(headers, self._bound):
            return False
        if self._add_pages is not None:
            add_pages, self._add_pages = self._add_pages, None
            add_pages()
        return True

    def on_close(self, server_conn: object) -> None:
        """Called by tornado when a connection has gone."""
        self._application.on_close(server_conn)


class _Unframed:
    """A connection whose answers stay out of frames of other sites."""

    def __init__(self, connection: HTTPConnection):
        self._connection = connection

    def write_headers(self, start_line: Any, headers: HTTPHeaders, chunk: Any = None) -> Any:
        for name, value in OWN_FRAMES.items():
            headers[name] = value
        return self._connection.write_headers(start_line, headers, chunk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class _Guarded(HTTPMessageDelegate):
    """One request: refused once its headers are there, or passed on."""

    def __init__(self, behind: HTTPMessageDelegate, connection: HTTPConnection, guard: Guard):
        self._behind, self._connection, self._guard = behind, connection, guard
        self._is_refused = False

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Any:
        if self._guard.lets_in(headers):
            return self._behind.headers_received(start_line, headers)
        self._is_refused = True
        return None

    def data_received(self, chunk: bytes) -> Any:
        return None if self._is_refused else self._behind.data_received(chunk)

    def finish(self) -> None:
        if not self._is_refused:
            self._behind.finish()
            return
        answer_headers = HTTPHeaders(
            {
                "Content-Type": "text/plain; charset=utf-8",
                "Content-Length": str(len(REFUSED)),
                "Connection": "close",
            }
        )
        answer = ResponseStartLine("HTTP/1.1", 403, "Forbidden")
        self._connection.write_headers(answer, answer_headers, REFUSED)
        self._connection.finish()

    def on_connection_close(self) -> None:
        if not self._is_refused:
            self._behind.on_connection_close()
