"""The process that holds the graph: it loads and searches, and may be killed to cancel."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pipeline.config import GenerateConfig
from pipeline.errors import PipelineError, UsageError
from pipeline.explore.rows import Listed
from pipeline.model.progress import Progress
from pipeline.model.words import number
from pipeline.options import options_of
from pipeline.places import in_one_line
from pipeline.processes.stopping import end_with_parent

Origin = tuple[tuple[str, ...], tuple[str, ...]]
MAX_BARS = 60  # of levels; more are added up


def work(connection: Connection, parent: int, store: Path | None) -> None:
    """Answer requests until the other end is closed: progress, then one graph, result or error.

    A result is sent before it is checked, with its picture, and again with its certificate. Its
    rows are made when they are requested, and kept until the next search.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this
    end_with_parent(parent, signal.SIGKILL)
    graph: Any = None
    listed: Listed | None = None
    origin: Origin = ((), ())
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            if request["do"] == "graph":
                listed = None
                graph = _load(request, store, connection)
                origin = _origin(request, store)
                connection.send({"kind": "graph", "graph": _about(graph)})
            elif request["do"] == "rows":
                if listed is None:
                    raise UsageError("search first: there is no result to list")
                connection.send({"kind": "rows", "rows": listed.answer(request)})
            else:
                listed = None
                summary, result = _search(graph, request, connection, origin)
                listed = Listed(summary)
                connection.send({"kind": "result", "result": result})
        except (PipelineError, OSError) as error:  # of the latter: a name too long, no permission
            connection.send({"kind": "error", "message": in_one_line(error)})
        except MemoryError:
            connection.send({"kind": "error", "message": "too little memory for this graph"})


def _say(connection: Connection, text: str) -> None:
    connection.send({"kind": "progress", "text": text})


def _load(request: Mapping[str, Any], store: Path | None, connection: Connection) -> Any:
    _say(connection, "Reading the graph" if request["from"] != "model" else "Making the graph")
    from pipeline.stages.graphs import generated_graph, load_graph, read_graph

    if request["from"] == "model":
        return generated_graph(request["model"], request["options"])
    if request["from"] == "file":
        if not request["path"]:
            raise UsageError("give the path of a file")
        path = Path(request["path"])
        with contextlib.suppress(RuntimeError):  # ~ of nobody: no such file
            path = path.expanduser()
        if not path.exists():
            raise UsageError(f"{request['path']}: no such file on this machine")
        return read_graph(path)
    if store is None:
        raise UsageError("no store: start the explorer with --store DIR")
    return load_graph(f"AS{request['asn']}", store, request["snapshot"])


def _origin(request: Mapping[str, Any], store: Path | None) -> Origin:
    """Words of the command line that make the graph, and those that name it for a search."""
    if request["from"] == "file":
        return (), (request["path"],)
    if request["from"] == "as":
        return (), (f"AS{request['asn']}", "--store", str(store), "--snapshot", request["snapshot"])
    words = {each.name: each.word for each in options_of(GenerateConfig)}
    made = ["generate", request["model"]]
    for name, value in request["options"].items():
        if value not in (False, ""):
            made += [f"--{words[name]}", *([] if value is True else [str(value)])]
    return (*made, "--out", "graph.brite"), ("graph.brite",)


def _command(summary: Any, origin: Origin) -> str:
    """What does the same on the command line."""
    made, named = origin
    searched = ["search", summary.algorithm, *named]
    for end, node in (("source", summary.source), ("target", summary.target)):
        if node is not None:
            searched += [f"--{end}", summary.graph.name_of(node).partition(" ")[0]]
    return "; ".join(shlex.join(["hopscope", *words]) for words in (made, searched) if words)


def _about(graph: Any) -> dict[str, Any]:
    """What the page shows of a graph."""
    return {
        "name": graph.name,
        "size": f"{number(graph.graph.n_nodes, graph.noun)}, {number(graph.graph.n_edges, 'link')}",
        "weighted": graph.graph.weights is not None,
        "first": graph.name_of(0) if graph.graph.n_nodes else "",
        "last": graph.name_of(graph.graph.n_nodes - 1) if graph.graph.n_nodes else "",
        "warnings": graph.warnings,
    }


def _search(
    graph: Any, request: Mapping[str, Any], connection: Connection, origin: Origin = ((), ())
) -> tuple[Any, dict[str, Any]]:
    """The summary of a search, and what the page shows of it."""
    if graph is None:
        raise UsageError("make or load a graph first")
    from pipeline.stages.search import certified, choose_implementation, search_graph

    def tell(progress: Progress) -> None:
        if progress.done < progress.total:
            _say(connection, f"Searching ({progress.detail})")

    summary = search_graph(
        request["algorithm"],
        graph,
        source=request["source"] or None,
        target=request["target"] or None,
        implementation=choose_implementation(request["device"]),
        compare=bool(request["compare"]),
        check=False,
        progress=tell,
    )
    _say(connection, "Drawing")
    shown = _shown(summary) | {"command": _command(summary, origin)}
    connection.send({"kind": "unchecked", "result": shown | {"checking": True}})
    _say(connection, "Checking the result")
    checked = certified(summary)
    more = {"certificate": checked.certificate, "certificate_s": checked.certificate_s}
    return summary, shown | more


def _shown(summary: Any) -> dict[str, Any]:
    """What the page shows of a search, its picture with it; nothing is checked yet."""
    from pipeline.explore.drawing import draw

    started = time.perf_counter()
    graph, facts = summary.graph, summary.facts
    path = facts.get("path", [])
    ends = [node for node in (summary.source, summary.target) if node is not None]
    focus = [*ends, *([facts["node"]] if facts.get("node", -1) >= 0 else [])]
    found = summary.found
    forest = (found.tails, found.heads) if summary.algorithm == "mst" else None
    picture = draw(graph, path, focus, forest)
    return {
        "algorithm": summary.algorithm,
        "graph": graph.name,
        "size": number(graph.graph.n_nodes, graph.noun),
        "nouns": graph.nouns,
        "source": "" if summary.source is None else graph.name_of(summary.source),
        "target": "" if summary.target is None else graph.name_of(summary.target),
        "text": summary.text,
        "implementation": summary.implementation,
        "seconds": summary.seconds,
        "certificate": None,
        "certificate_s": 0.0,
        "checking": False,
        "levels": _bars(facts.get("hop_counts", [])),
        "path": [graph.name_of(node) for node in path],
        "picture": picture,
        "picture_s": time.perf_counter() - started,
        "pid": os.getpid(),
    }


def _bars(counts: list[int]) -> list[list]:
    """Nodes at each number of hops, as words and counts; long ones in steps of several hops."""
    step = -(-len(counts) // MAX_BARS) or 1
    bars = []
    for first in range(0, len(counts), step):
        some = counts[first : first + step]
        last = first + len(some) - 1
        bars.append([f"{first}" if first == last else f"{first}-{last}", sum(some)])
    return bars
