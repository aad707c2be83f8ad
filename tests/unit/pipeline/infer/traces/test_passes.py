"""Passes over all traces by several threads."""

import ast
import threading
from collections import Counter

import pytest

from pipeline.infer import infer_topology
from pipeline.infer.traces import passes
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Finding, Spools
from pipeline.judge import load_truth
from tests.addresses import format_addrs
from tests.oracles.truth.laboratory import LAB_RANGES, load_prefixes, observe_lab, true_aliases
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


def hops_of(seen, **options):
    """(TTL, address) of the hops of each trace, as rules see them."""
    found = []
    addrs = merge_addresses(seen).addrs
    texts = format_addrs(addrs)

    def step(_, batch):
        rows = zip(batch.traces.ttl.tolist(), batch.traces.ids.tolist(), strict=True)
        found.extend((ttl, texts[i]) for ttl, i in rows)

    Spools(seen, addrs, 1, **options).read(Finding(lambda: None, step, lambda _: None))
    return found


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (f"{A} {B} {B}^ > 20.4.0.1", [(1, A), (2, B)]),  # it let others pass: refused behind it
        (f"{A} {B} {B}^ {B}^ {B}^ > 20.4.0.1", [(1, A), (2, B)]),
        (f"{A} {B} {B} {C} > 20.4.0.1", [(1, A), (2, B), (3, B), (4, C)]),  # a tunnel's end
        (f"{A} {B} {B} {B} {C} > 20.4.0.1", [(1, A), (2, B), (5, C)]),  # a middlebox
        (f"{A} {B}^ > 20.4.0.1", [(1, A), (2, B)]),  # all that it answered
        (f"{A} {B} {B}! > {B}", [(1, A), (2, B)]),
        (f"{A} {B} {C}^ > 20.4.0.1", [(1, A), (2, B), (3, C)]),  # another one
    ],
)
def test_what_a_middlebox_answers_again_is_no_hop(tmp_path, line, kept):
    seen = [observe(tmp_path, traces(line))]
    assert hops_of(seen, are_boxes=True) == kept
    assert len(hops_of(seen)) >= len(kept)


def test_middleboxes_of_one_batch_do_not_reach_into_each_other(tmp_path):
    lines = [f"{A} {B} > 20.4.0.1", f"{B} {C} > 20.4.0.1", f"{C} {C} > 20.4.0.2", "* > 20.4.0.3"]
    seen = [observe(tmp_path, traces(*lines))]
    assert hops_of(seen, are_boxes=True) == hops_of(seen)
