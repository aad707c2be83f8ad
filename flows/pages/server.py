"""The reports of a folder over HTTP, on 127.0.0.1 only, behind a start page.

Read-only: GET and HEAD. It shows nothing outside the folder, no hidden files and no folder
listings; a request must name this machine as its host, so that pages of other sites cannot read the
reports.
"""

from __future__ import annotations

import html
import http.server
import shlex
import time
import urllib.parse
from http import HTTPStatus
from pathlib import Path

from flows.runs.api import Api, Run, RunsUnknown, runs_in_progress
from pipeline.pages.local_pages import (
    HEADERS,
    HOST,
    OWN_FILES_ONLY,
    LocalServer,
    names_this_machine,
)
from pipeline.places import url_of
from pipeline.stages import run_metrics

REPORTS = "/reports/"
INDEX = f"{REPORTS}index.html"  # of all nights
HTML_TYPE = "text/html; charset=utf-8"
METRICS, METRICS_TYPE = "/metrics", "text/plain; version=0.0.4; charset=utf-8"
# Tell flow runs which folder of reports is served, and where: a browser follows no link from a page
# of Prefect to a file.
REPORTS_URL = "HOPSCOPE_REPORTS_URL"
REPORTS_FOLDER = "HOPSCOPE_REPORTS_FOLDER"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hopscope</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="15">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; padding: .35rem .5rem; border-bottom: 1px solid #8884; }}
.newest {{ font-size: 1.2rem; }}
code {{ overflow-wrap: anywhere; }}
</style></head><body>
<h1>hopscope</h1>
{body}
</body></html>
"""
_START = """{newest}
<h2>Now</h2>
<ul>
<li><a href="{prefect}">Prefect</a>: runs, schedule, logs;
start one with <code>{run_now}</code></li>
{running}
</ul>
<h2>Reports</h2>
{reports}"""
_NO_INDEX = """<p>{what} in <code>{out}</code>; this page looks again every 15 s.</p>
<p>To run the nightly job now: <code>{run_now}</code></p>
<p>Or, of a snapshot in a store: <code>{analyze}</code></p>
<p><a href="/">Start page</a></p>"""


def snapshots_with_report(out: Path) -> list[tuple[str, float]]:
    """Names of the snapshots with a report, the latest written first, and when (seconds)."""
    if not out.is_dir():
        return []
    pages = [(folder.name, folder / "index.html") for folder in out.iterdir()]
    written = [
        (name, page.stat().st_mtime)
        for name, page in pages
        if not name.startswith(".") and page.is_file()
    ]
    return sorted(written, key=lambda row: (-row[1], row[0]))


def start_page(out: Path, ui_url: str, runs: list[Run] | str, run_now: str) -> str:
    """HTML of the start page.

    Parameters
    ----------
    out : Path
        Folder of reports, or the mirror of a URL, whose reports are not served.
    ui_url : str
        Address of Prefect's pages.
    runs : list of Run or str
        Runs in progress; or why they are not known.
    run_now : str
        Command that starts a run.
    """
    elsewhere = url_of(out)
    snapshots = [] if elsewhere else snapshots_with_report(out)
    rows = "".join(
        f'<tr><td><a href="{_href(name)}">{html.escape(name)}</a></td>'
        f"<td>{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(written))}</td></tr>"
        for name, written in snapshots
    )
    if isinstance(runs, str):
        running = f"<li>{html.escape(runs)}</li>"
    else:
        running = "".join(map(_run, runs)) or "<li>No run in progress</li>"
    newest = ""
    if snapshots:
        href = _href(snapshots[0][0])
        newest = f'<p class="newest"><a href="{href}">Newest report</a></p>'
    if not elsewhere and (out / "index.html").is_file():
        newest += f'<p><a href="{INDEX}">All nights</a></p>'
    if elsewhere:
        reports = f"<p>{_elsewhere(elsewhere)}</p>"
    elif snapshots:
        reports = f"<table><tr><th>Snapshot</th><th>Written</th></tr>{rows}</table>"
    else:
        reports = f"<p>None yet in {html.escape(str(out))}.</p>"
    body = _START.format(
        newest=newest,
        prefect=html.escape(ui_url),
        running=running,
        run_now=html.escape(run_now),
        reports=reports,
    )
    return _PAGE.format(body=body)


def no_index_page(out: Path, run_now: str) -> str:
    """HTML in place of the page of all nights, before there is one: how to make it.

    Parameters
    ----------
    out : Path
        Folder of reports.
    run_now : str
        Command that starts a run.
    """
    texts = {
        "what": "No page of all nights yet" if snapshots_with_report(out) else "No report yet",
        "out": str(out),
        "run_now": run_now,
        "analyze": f"hopscope analyze --store DIR --out {shlex.quote(str(out))}",
    }
    escaped = {name: html.escape(text) for name, text in texts.items()}
    return _PAGE.format(body=_NO_INDEX.format(**escaped))


def elsewhere_page(url: str) -> str:
    """HTML in place of reports at a URL."""
    return _PAGE.format(body=f'<p>{_elsewhere(url)}</p>\n<p><a href="/">Start page</a></p>')


def _elsewhere(url: str) -> str:
    return f"They are at <code>{html.escape(url)}</code>, and are not served from here."


def _run(run: Run) -> str:
    name = f'<a href="{html.escape(run.page)}">{html.escape(run.name)}</a>'
    if run.state != "Running":
        return f"<li>Run {name}: {html.escape(run.state)}</li>"
    link = f': <a href="{html.escape(run.dashboard)}">Dask dashboard</a>' if run.dashboard else ""
    return f"<li>Run {name} is in progress{link}</li>"


def _href(name: str) -> str:
    return html.escape(f"{REPORTS}{urllib.parse.quote(name)}/index.html")


class ReportServer(LocalServer):
    """Serves the start page at ``/`` and the folder of reports below ``/reports/``.

    Reports at a URL are not served: their mirror has pages of this machine alone, and not the
    latest.

    Attributes
    ----------
    elsewhere : str or None
        URL of reports that are not served.

    Raises
    ------
    OSError
        If the port is taken.
    """

    def __init__(self, port: int, out: Path, ui_url: str, api: Api, run_now: str):
        super().__init__((HOST, port), _Handler)
        self.out, self.ui_url, self.api, self.run_now = out, ui_url, api, run_now
        self.elsewhere = url_of(out)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"


class _Handler(http.server.SimpleHTTPRequestHandler):
    server: ReportServer
    server_version = "hopscope"
    sys_version = ""

    def send_head(self):
        """Answer with the start page, a file of a report, or an error."""
        if not names_this_machine(self.headers.get("Host")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "use the host name 127.0.0.1")
            return None
        path = urllib.parse.urlsplit(self.path).path
        if path == "/":
            return self._send_start_page()
        if path == METRICS:
            return self._send_metrics()
        if self.server.elsewhere and f"{path}/".startswith(REPORTS):
            page = elsewhere_page(self.server.elsewhere)
            return self._send(page.encode(), HTML_TYPE, HTTPStatus.NOT_FOUND)
        if path in (REPORTS, REPORTS.rstrip("/"), INDEX):
            if self._file(INDEX) is None:
                page = no_index_page(self.server.out, self.server.run_now)
                return self._send(page.encode(), HTML_TYPE, HTTPStatus.NOT_FOUND)
            if path != INDEX:
                return self._send_to(INDEX)
        if self._file(path) is None:
            self.send_error(HTTPStatus.NOT_FOUND, "no such report")
            return None
        return super().send_head()

    def translate_path(self, path: str) -> str:
        found = self._file(urllib.parse.urlsplit(path).path)
        return str(found) if found else "/nonexistent"

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", OWN_FILES_ONLY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal is for addresses and errors."""

    def _file(self, path: str) -> Path | None:
        """The file at a path below /reports/; None if there is none to show."""
        if not path.startswith(REPORTS):
            return None
        parts = urllib.parse.unquote(path[len(REPORTS) :]).split("/")
        if any(part.startswith(".") or "\0" in part for part in parts):
            return None
        try:
            out = self.server.out.resolve()
            file = out.joinpath(*parts).resolve()
            return file if file.is_relative_to(out) and file.is_file() else None
        except (OSError, RuntimeError, ValueError):  # name too long, a loop of links, not text
            return None

    def _send_metrics(self):
        file = self._file(REPORTS + run_metrics.NAME)
        try:
            data = b"" if file is None else file.read_bytes()
        except OSError:  # removed meanwhile
            data = b""
        self._send(data, METRICS_TYPE)

    def _send_start_page(self):
        server = self.server
        try:
            runs: list[Run] | str = runs_in_progress(server.api, server.ui_url)
        except RunsUnknown as error:
            runs = str(error)
        data = start_page(server.out, server.ui_url, runs, server.run_now).encode()
        self._send(data, HTML_TYPE)

    def _send_to(self, path: str) -> None:
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, data: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
