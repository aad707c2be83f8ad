"""Passes over all traces by several threads."""

import ast
import threading

from pipeline.infer import infer_topology
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

A, B, C = "20.1.0.10", "20.1.0.20", "20.1.0.30"


def test_no_header_is_parsed_in_a_thread(tmp_path, monkeypatch):
    """Two threads of CPython 3.11 that parse at once may end in a SystemError."""
    parse, threads, parsing = ast.parse, set(), set()

    def noticed(*given, **more):
        parsing.add(threading.current_thread())
        return parse(*given, **more)

    def started(frame, event, arg):
        threads.add(threading.current_thread())

    seen = [observe(tmp_path, traces(line)) for line in (f"{A} {B} {C}", f"{B} {C}", f"{C} {A}")]
    monkeypatch.setattr(ast, "parse", noticed)
    threading.setprofile(started)
    try:
        infer_topology(seen, prefixes=prefix_table(tmp_path), workers=2)
    finally:
        threading.setprofile(None)
    assert len(threads) >= 2  # work was done in threads
    assert parsing <= {threading.main_thread()}
