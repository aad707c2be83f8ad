"""What servers of pages on this machine share: their address, headers, and whom they answer."""

from __future__ import annotations

HOST = "127.0.0.1"

# Pages of other sites may not embed ours (clickjacking), or learn their addresses.
HEADERS = {
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
NO_FRAMES = "frame-ancestors 'none'"  # of a Content-Security-Policy
# Of pages that load files beside them and nothing else; our own pages say the same themselves.
OWN_FILES_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    f"img-src 'self' data:; base-uri 'none'; form-action 'none'; {NO_FRAMES}"
)


def names_this_machine(host: str | None) -> bool:
    """Whether a request's ``Host`` is this machine: a page of another site names its own."""
    return (host or "").rpartition(":")[0] in (HOST, "localhost")
