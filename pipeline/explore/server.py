"""The explorer over HTTP, on 127.0.0.1 only, behind a secret in its address.

A request without the token gets nothing, not even an error of its own: other users of this machine
can reach the port. A request must name this machine as its host, and one that changes anything must
come as JSON from our own page, so that pages of other sites can neither read nor start anything.
"""

from __future__ import annotations

import http.server
import json
import os
import secrets
import sys
import webbrowser
from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pipeline.algorithms import ALGORITHMS
from pipeline.config import ExploreConfig, GenerateConfig
from pipeline.errors import PipelineError, UsageError, said_by_system
from pipeline.explore.rows import DOWNLOADS
from pipeline.explore.session import Session
from pipeline.generate import MODELS
from pipeline.model.choices import DEVICE_CHOICES, as_number_in
from pipeline.model.words import node_words, number
from pipeline.options import options_of
from pipeline.pages.local_pages import (
    HEADERS,
    HOST,
    NO_FRAMES,
    LocalServer,
    names_this_machine,
    origins,
)
from pipeline.places import in_one_line
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.store import snapshot_names

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    f"base-uri 'none'; form-action 'none'; {NO_FRAMES}"
)
# Name in the address -> package, file, content type.
_FILES = {
    "": ("pipeline.explore", "explore.html", "text/html; charset=utf-8"),
    "explore.js": ("pipeline.explore", "explore.js", "text/javascript; charset=utf-8"),
    "explore.css": ("pipeline.explore", "explore.css", "text/css; charset=utf-8"),
    "hopscope.css": ("pipeline.report", "hopscope.css", "text/css; charset=utf-8"),
}
MAX_REQUEST_BYTES = 1 << 16
MAX_DISCARDED_BYTES = 64 << 20  # of a longer one, which is answered in words only once it is read
MAX_FILTER = 200  # characters
MAX_LISTED = 200  # ASes that the page offers; any other can be typed
# In a field that may stay empty, and what an option is called in this field's terms.
EXAMPLES = {"weights": "length, or whole:1:1024"}
LABELS = {"m": "links of a new node (m)", "cut": "share of links cut", "n_rows": "rows"}


class ExploreServer(LocalServer):
    """Serves the page of a session below a token.

    Raises
    ------
    OSError
        If the port is taken.
    """

    def __init__(self, port: int, session: Session):
        super().__init__((HOST, port), _Handler)
        self.session = session
        self.token = secrets.token_urlsafe(18)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: ExploreServer
    server_version = "hopscope"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name in _FILES:
            package, file, kind = _FILES[name]
            self._send(resources.files(package).joinpath("assets", file).read_bytes(), kind)
        elif name == "api/state":
            self._send_json(self.server.session.state())
        elif name == "api/choices":
            self._answer(lambda: choices(self.server.session.store))
        elif name in (f"api/rows.{kind}" for kind in DOWNLOADS):
            self._download(name.rpartition(".")[2])
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        name = self._name()
        if name is None:
            return
        own = self.headers.get("Origin") in (None, *origins(self.server.server_address[1]))
        if not own or self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        try:
            length = max(0, int(self.headers.get("Content-Length") or 0))
            if MAX_REQUEST_BYTES < length <= MAX_DISCARDED_BYTES:
                self._answer(lambda: self._discard(length))
                return
            given = json.loads(self.rfile.read(min(length, MAX_REQUEST_BYTES)) or b"{}")
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        actions = {
            "api/graph": lambda: self.server.session.begin(graph_request(given)),
            "api/search": lambda: self.server.session.begin(search_request(given)),
            "api/cancel": self.server.session.cancel,
            "api/rows": lambda: self.server.session.ask({**rows_request(given), "file": ""}),
            "api/ases": lambda: ases_of(self.server.session.store, given.get("snapshot")),
        }
        if name not in actions or not isinstance(given, dict):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        self._answer(actions[name])

    def _download(self, kind: str) -> None:
        """Rows as a file, which a link of the page asks for."""
        given = {key: values[-1] for key, values in parse_qs(urlsplit(self.path).query).items()}
        try:
            answer = self.server.session.ask({**rows_request(given), "file": kind})
        except PipelineError as error:
            self._send_json({"error": in_one_line(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
            return
        saved = {"Content-Disposition": f'attachment; filename="result.{kind}"'}
        self._send(answer["content"], DOWNLOADS[kind], more=saved)

    def _discard(self, length: int) -> None:
        """Read a request that is too long and refuse it: a browser reads no answer before."""
        while length > 0 and (some := self.rfile.read(min(length, MAX_REQUEST_BYTES))):
            length -= len(some)
        raise UsageError(f"this is too long: give at most {MAX_REQUEST_BYTES:,} characters in all")

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal is for the address and errors."""

    def _name(self) -> str | None:
        """What is requested below the token; None: refused already."""
        if not names_this_machine(self.headers.get("Host")):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        token, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return name

    def _answer(self, act: Any) -> None:
        """The outcome of an action, or its error in words for the page."""
        try:
            self._send_json(act() or {})
        except PipelineError as error:
            self._send_json({"error": in_one_line(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        data = json.dumps(value, allow_nan=False).encode()
        self._send(data, "application/json", status)

    def _send(
        self,
        data: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for header, value in (HEADERS | dict(more or {})).items():
            self.send_header(header, value)
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True  # its body may be unread
        self._send(status.phrase.encode(), "text/plain; charset=utf-8", status)


def choices(store: Path | None) -> dict[str, Any]:
    """Everything that the page offers to choose from."""
    from pipeline.stages.generate import OPTIONS
    from pipeline.stages.graphs import one_graph_models
    from pipeline.store import snapshot_names

    known = {option.name: option for option in options_of(GenerateConfig)}
    models = []
    for name in one_graph_models():
        names = ("routers", *(OPTIONS[field] for field in MODELS[name].options), "seed")
        fields = [
            {
                "name": each,
                "label": LABELS.get(each, each.replace("_", " ")),
                "help": known[each].help,
                "is_switch": known[each].kind is bool,
                "example": EXAMPLES.get(each, "optional"),
                "default": "1000"
                if known[each].is_required
                else known[each].text(known[each].default),
            }
            for each in names
        ]
        model = MODELS[name]
        title = f"{model.known_as} ({name})" if model.known_as else name
        about = {"name": name, "title": title, "help": model.description}
        models.append(about | {"fields": fields})
    return {
        "algorithms": [
            {
                "name": name,
                "help": row.description,
                "needs": row.needs,
                "takes": row.takes,
            }
            for name, row in ALGORITHMS.items()
        ],
        "models": models,
        "snapshots": [] if store is None else list(reversed(snapshot_names(store))),
        "has_store": store is not None,
        "has_gpu": bool(visible_gpus()),
    }


def ases_of(store: Path | None, name: Any) -> dict[str, Any]:
    """The largest ASes of a snapshot: number, name, size."""
    from pipeline.store import check_name, open_snapshot

    if store is None or not isinstance(name, str):
        raise UsageError("give a snapshot of the store")
    with open_snapshot(store, check_name(name)) as snapshot:
        rows = sorted(range(snapshot.n_ases), key=lambda row: -int(snapshot.n_nodes[row]))
        return {
            "ases": [
                [
                    int(snapshot.asn[row]),
                    snapshot.as_name[row],
                    number(int(snapshot.n_nodes[row]), node_words(snapshot.kind).noun),
                ]
                for row in rows[:MAX_LISTED]
            ],
            "n_ases": snapshot.n_ases,
        }


def graph_request(given: dict[str, Any]) -> dict[str, Any]:
    """A job that makes or loads a graph, from what the page sends; UsageError if it is wrong."""
    origin = given.get("from")
    if origin == "model" and isinstance(given.get("options"), dict):
        options = {str(key): value for key, value in given["options"].items()}
        return {"do": "graph", "from": origin, "model": str(given.get("model")), "options": options}
    if origin == "file":
        return {"do": "graph", "from": origin, "path": str(given.get("path", "")).strip()}
    if origin == "as":
        asn = as_number_in(str(given.get("asn", "")))
        if asn is None:
            raise UsageError("give an AS as a number, such as 3356")
        return {"do": "graph", "from": origin, "snapshot": str(given.get("snapshot")), "asn": asn}
    raise UsageError("make a graph, read a file, or choose an AS of a snapshot")


def search_request(given: dict[str, Any]) -> dict[str, Any]:
    """A job that searches; nodes are found once the graph is at hand."""
    device = given.get("device", "auto")
    if device not in DEVICE_CHOICES:
        raise UsageError(f"device is {', '.join(DEVICE_CHOICES)}, not {device!r}")
    name = str(given.get("algorithm"))
    row = ALGORITHMS.get(name)
    if row is None:
        raise UsageError(f"unknown algorithm {name!r}; give one of: {', '.join(ALGORITHMS)}")
    used = (*row.needs, *row.takes)
    ends = {end: str(given.get(end, "")).strip() for end in ("source", "target")}
    for end in ends:
        if end in row.needs and not ends[end]:
            raise UsageError(f"give a {end} for {name}: a node or its address")
    return {
        "do": "search",
        "algorithm": name,
        "device": device,
        "compare": bool(given.get("compare")),
        **{end: text if end in used else "" for end, text in ends.items()},
    }


def rows_request(given: dict[str, Any]) -> dict[str, Any]:
    """Which rows of the result, from what the page sends; UsageError if it is wrong."""
    try:
        first = max(0, int(given.get("first", 0)))
    except (TypeError, ValueError):
        raise UsageError(f"first is a number of rows, not {given['first']!r}") from None
    texts = {name: str(given.get(name, ""))[:MAX_FILTER] for name in ("filter", "sort")}
    return {"do": "rows", "first": first, **texts}


def serve_explorer(config: ExploreConfig, say: Callable[[str], None]) -> None:
    """Serve the page, say its address, and open it; until Ctrl-C.

    Raises
    ------
    UsageError
        If the port is taken, or the store has no snapshot.
    StoreError
        If the store is broken.
    """
    if config.store is not None and not snapshot_names(config.store):
        raise UsageError(f"--store {config.store}: no snapshot here")
    with Session(config.store) as session:
        try:
            server = ExploreServer(config.port, session)
        except OSError as error:
            raise UsageError(
                f"port {config.port} of {HOST}: {said_by_system(error)}; give another --port"
            ) from None
        with server:
            say(f"Explorer: {server.url}")
            say("Stop with Ctrl-C")
            sys.stdout.flush()
            if config.open and _has_screen():
                webbrowser.open(server.url)
            server.serve_forever(0.2)


def _has_screen() -> bool:
    """Whether a browser can show anything; one in the terminal would hide the address."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
