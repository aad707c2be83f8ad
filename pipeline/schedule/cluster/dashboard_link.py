"""Where the dashboard of a given cluster is, if its scheduler has one."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request

from distributed import Client

ANSWER_S = 1.0  # seconds; the page is of a scheduler that has just answered
_NO_SUCH_PAGE = 404


def link_of(client: Client) -> str:
    """The link to the dashboard; empty where the scheduler has none, as with ``--no-dashboard``.

    Dask names one for every scheduler, so its page is tried. Where nothing answers the link is
    kept: the page may be reached from elsewhere.
    """
    link = client.dashboard_link or ""
    # Without a proxy, as the connection to the scheduler.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        # Only whether it is there: making the page keeps the scheduler busy for half a second.
        request = urllib.request.Request(link, method="HEAD")
        direct.open(request, timeout=ANSWER_S).close()
    except urllib.error.HTTPError as error:
        error.close()
        return "" if error.code == _NO_SUCH_PAGE else link
    except (OSError, ValueError, http.client.HTTPException):
        return link
    return link
