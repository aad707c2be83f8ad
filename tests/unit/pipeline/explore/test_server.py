"""The explorer answers only our own page: token, host, origin, headers; requests are checked."""

from __future__ import annotations

import http.client
import json
import threading

import pytest

from pipeline.config import ExploreConfig
from pipeline.errors import UsageError
from pipeline.explore.server import (
    ExploreServer,
    choices,
    graph_request,
    search_request,
    serve_explorer,
)


class Recorder:
    """A session that only notes what is requested of it."""

    store = None

    def __init__(self):
        self.requests = []

    def state(self):
        return {"job": None}

    def begin(self, request):
        if self.requests:
            raise UsageError("something is in progress")
        self.requests.append(request)

    def cancel(self):
        self.requests.clear()

    def ask(self, request):
        self.requests.append(request)
        return {"content": b"node,level\n"} if request["file"] else {"rows": []}


@pytest.fixture
def server():
    with ExploreServer(0, Recorder()) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def call(server, name: str, given=None, *, token=None, host=None, **headers):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        body = None if given is None else json.dumps(given).encode()
        path = f"/{server.token if token is None else token}/{name}"
        connection.putrequest("GET" if body is None else "POST", path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        if body is not None:
            connection.putheader("Content-Type", headers.pop("kind", "application/json"))
            connection.putheader("Content-Length", str(len(body)))
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


@pytest.mark.parametrize("name", ["", "explore.js", "explore.css", "hopscope.css", "api/state"])
def test_what_the_page_needs_is_there_with_headers_that_guard_it(server, name):
    status, text, headers = call(server, name)
    assert status == 200
    assert text
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize("token", ["", "x", "explore.js"])
@pytest.mark.parametrize("name", ["", "explore.js", "api/state"])
def test_without_the_token_there_is_nothing(server, token, name):
    assert call(server, name, token=token)[0] == 404


def test_another_host_name_is_refused(server):
    assert call(server, "", host="evil.example:80")[0] == 421
    assert call(server, "", host=f"localhost:{server.server_address[1]}")[0] == 200


def test_a_page_of_another_site_starts_nothing(server):
    given = {"from": "file", "path": "a"}
    assert call(server, "api/graph", given, Origin="http://evil.example")[0] == 403
    assert call(server, "api/graph", given, kind="text/plain")[0] == 403
    assert server.session.requests == []
    own = f"http://127.0.0.1:{server.server_address[1]}"
    assert call(server, "api/graph", given, Origin=own)[0] == 200
    assert server.session.requests == [{"do": "graph", **given}]


def test_an_error_is_a_sentence_for_the_page(server):
    assert call(server, "api/graph", {"from": "nowhere"})[:2] == (
        422,
        '{"error": "make a graph, read a file, or choose an AS of a snapshot"}',
    )
    assert call(server, "api/search", [1])[0] == 404
    assert call(server, "api/nothing", {})[0] == 404
    assert call(server, "api/ases", {"snapshot": "a"})[0] == 422


def test_what_is_too_long_is_read_and_refused_in_a_sentence(server):
    given = {"from": "file", "path": "x" * 1_000_000}
    status, text, _ = call(server, "api/graph", given)
    assert (status, json.loads(text)["error"][:16]) == (422, "this is too long")
    assert server.session.requests == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"algorithm": "bfs"}, "give a source for bfs"),
        (
            {"algorithm": "shortest_path", "source": "1", "target": " "},
            "give a target for shortest_path",
        ),
        ({"algorithm": "dijkstra"}, "unknown algorithm 'dijkstra'"),
        ({"algorithm": "mst", "device": "tpu"}, "device is auto, cpu, gpu, not"),
    ],
)
def test_a_wrong_search_is_refused_before_it_starts(given, message):
    with pytest.raises(UsageError, match=message):
        search_request(given)


def test_ends_that_an_algorithm_does_not_use_are_left_out():
    given = {"algorithm": "mst", "source": "1", "target": "2", "compare": True}
    request = search_request(given)
    assert (request["source"], request["target"], request["compare"]) == ("", "", True)


def test_an_as_is_a_number():
    assert graph_request({"from": "as", "snapshot": "a", "asn": " as 3356 "})["asn"] == 3356
    for wrong in ("Level3", "", None, "4294967296"):
        with pytest.raises(UsageError, match="give an AS as a number"):
            graph_request({"from": "as", "snapshot": "a", "asn": wrong})


def test_the_page_offers_every_algorithm_and_each_model_of_one_graph():
    offered = choices(None)
    assert {"bfs", "mst", "diameter"} < {row["name"] for row in offered["algorithms"]}
    models = {row["name"]: row["fields"] for row in offered["models"]}
    assert "internet" not in models
    fields = {field["name"]: field for field in models["degrees"]}
    assert fields["connected"]["is_switch"]
    assert fields["weights"]["example"] == "length, or whole:1:1024"
    assert fields["min_degree"]["default"] == "2"
    assert offered["snapshots"] == []


def test_rows_are_asked_for_and_downloaded(server):
    assert call(server, "api/rows", {"filter": "1.2", "sort": "-level", "first": 100})[0] == 200
    status, text, headers = call(server, "api/rows.csv?filter=a%26b&sort=node")
    assert (status, text) == (200, "node,level\n")
    assert headers["Content-Disposition"] == 'attachment; filename="result.csv"'
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert server.session.requests == [
        {"do": "rows", "first": 100, "filter": "1.2", "sort": "-level", "file": ""},
        {"do": "rows", "first": 0, "filter": "a&b", "sort": "node", "file": "csv"},
    ]
    assert call(server, "api/rows", {"first": "many"})[0] == 422
    assert call(server, "api/rows.exe")[0] == 404


def test_a_store_without_a_snapshot_is_refused(tmp_path):
    config = ExploreConfig(store=tmp_path / "misspelt", port=0, open=False)
    with pytest.raises(UsageError, match="misspelt: no snapshot here"):
        serve_explorer(config, print)
