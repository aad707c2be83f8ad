"""What servers of pages on this machine share: their address, headers, and whom they answer."""

from __future__ import annotations

import http.server
import re
import sys
from typing import Any

HOST = "127.0.0.1"

# Pages of other sites may not embed ours (clickjacking), or learn their addresses.
HEADERS = {
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
NO_FRAMES = "frame-ancestors 'none'"  # of a Content-Security-Policy
# Headers of servers that are not ours, whose pages embed one another.
OWN_FRAMES = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"}
# Of pages that load files beside them and nothing else; our own pages say the same themselves.
OWN_FILES_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    f"img-src 'self' data:; base-uri 'none'; form-action 'none'; {NO_FRAMES}"
)

NAMES = (HOST, "localhost")


def names_this_machine(host: str | None, *others: str) -> bool:
    """Whether a request's ``Host`` is this machine: a page of another site names its own.

    Parameters
    ----------
    host : str or None
        With any port, which may be that of the near end of a tunnel, or without one.
    *others : str
        More names or addresses of this machine, in lower case.
    """
    names = {*NAMES, "[::1]"} | {f"[{name}]" if ":" in name else name for name in others}
    return re.sub(r":[0-9]*\Z", "", (host or "").lower()) in names - {""}


def origins(port: int) -> tuple[str, ...]:
    """Origins under which a browser loads the pages of a port of this machine."""
    return tuple(f"http://{name}:{port}" for name in NAMES)


class LocalServer(http.server.ThreadingHTTPServer):
    """A server whose threads end with the process, and which ignores browsers that hang up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)
