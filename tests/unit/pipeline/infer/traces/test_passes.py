"""Passes over all traces by several threads."""

import ast
import threading
from collections import Counter

import pytest

from pipeline.infer import infer_topology
from pipeline.infer.traces import passes
from tests.oracles.truth.laboratory import LAB_RANGES, load_prefixes, observe_lab, true_aliases
from tests.oracles.truth.network import load_truth
from tests.real_data import REPOSITORY
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

LAB = REPOSITORY / "data" / "samples" / "lab"
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


@pytest.mark.parametrize(
    ("options", "n_passes"),
    [({}, 4), ({"aliases": True}, 3), ({"routers": "interfaces"}, 4), ({"borders": "prefix"}, 3)],
    ids=["inferred", "alias-sets", "interfaces", "prefix"],
)
def test_an_ingest_reads_each_block_of_the_traces_three_times_and_once_for_private_addresses(
    tmp_path, monkeypatch, options, n_passes
):
    """Places of private addresses; links; paths, aims and dead ends; RTTs, ingresses and paths."""
    seen = observe_lab(LAB, tmp_path)
    if "aliases" in options:
        options = {"aliases": true_aliases(load_truth(LAB))}
    blocks = {(one.spool, block.offset) for one in seen for block in one.blocks}
    n_read, read_block = Counter(), passes.read_block

    def counted(path, block):
        n_read[path, block.offset] += 1
        return read_block(path, block)

    monkeypatch.setattr(passes, "read_block", counted)
    infer_topology(seen, prefixes=load_prefixes(LAB), allow_special=LAB_RANGES, **options)
    assert n_read == dict.fromkeys(blocks, n_passes)
