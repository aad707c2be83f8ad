"""What the process of the explorer answers, without the process."""

from __future__ import annotations

import pytest

from pipeline.errors import PipelineError
from pipeline.explore import worker
from pipeline.stages import search as stage
from pipeline.stages.graphs import generated_graph

REQUEST = {"do": "search", "source": "0", "target": "", "device": "cpu", "compare": False}


class Kept:
    """The end of a connection that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict] = []

    def send(self, message: dict) -> None:
        self.sent.append(message)


def made():
    return generated_graph("ba", {"routers": "50", "seed": "1"})


@pytest.mark.parametrize("algorithm", ["bfs", "mst", "components"])
def test_a_result_is_shown_before_it_is_checked(algorithm):
    connection = Kept()
    source = "0" if algorithm == "bfs" else ""
    request = REQUEST | {"algorithm": algorithm, "source": source}
    _, checked = worker._search(made(), request, connection)
    kinds = [message["kind"] for message in connection.sent]
    assert kinds.count("unchecked") == 1
    at = kinds.index("unchecked")
    assert connection.sent[at + 1] == {"kind": "progress", "text": "Checking the result"}
    shown = connection.sent[at]["result"]
    assert (shown["certificate"], shown["checking"]) == (None, True)
    assert len(shown["picture"]["nodes"]) == 50
    assert checked["certificate"]
    assert not checked["checking"]
    changes = {key for key in checked if checked[key] != shown[key]}
    assert changes == {"certificate", "certificate_s", "checking"}


def test_a_result_names_the_command_that_does_the_same(tmp_path):
    request = {
        "from": "model",
        "model": "ba",
        "options": {"routers": "50", "n_ases": "", "cut": False},
    }
    origin = worker._origin(request, None)
    _, shown = worker._search(made(), REQUEST | {"algorithm": "bfs"}, Kept(), origin)
    assert shown["command"] == (
        "hopscope generate ba --routers 50 --out graph.brite; "
        "hopscope search bfs graph.brite --source 0"
    )
    assert worker._origin({"from": "file", "path": "a b"}, None) == ((), ("a b",))
    named = worker._origin({"from": "as", "asn": 7, "snapshot": "night"}, tmp_path)[1]
    assert named == ("AS7", "--store", str(tmp_path), "--snapshot", "night")


def test_a_result_that_its_certificate_refuses_is_an_error(monkeypatch):
    def refuse(_):
        raise PipelineError("bfs: wrong result")

    monkeypatch.setattr(stage, "certified", refuse)
    connection = Kept()
    with pytest.raises(PipelineError, match="wrong result"):
        worker._search(made(), REQUEST | {"algorithm": "bfs"}, connection)
    assert connection.sent[-2]["result"]["checking"]
