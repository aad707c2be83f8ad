"""Outputs of other methods: what is read of each form, and the topology that it stands for."""

import gzip
import sqlite3

import numpy as np
import pytest

from pipeline.errors import FormatError
from pipeline.judge.outputs import read_output, topology_of_output
from pipeline.judge.outputs.output import Output
from pipeline.model.addresses import format_addrs, parse_addrs
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import observe, traces


def said(output):
    """AS and router of each address; routers by their first address."""
    texts = format_addrs(output.addrs)
    first = {}
    for text, router in zip(texts, output.router.tolist(), strict=True):
        first.setdefault(router, text)
    asn = output.asn[output.router].tolist()
    rows = zip(texts, asn, output.router.tolist(), strict=True)
    return {text: (one, first[router]) for text, one, router in rows}


OWNERS = {
    "20.1.0.1": (1, "20.1.0.1"),
    "20.1.0.2": (1, "20.1.0.1"),
    "20.2.0.1": (2, "20.2.0.1"),
    "20.3.0.1": (NO_ASN, "20.3.0.1"),
}
ROWS = [("20.2.0.1", 2, ""), ("20.1.0.2", 1, "r"), ("20.1.0.1", 1, "r"), ("20.3.0.1", -100, "")]
BRDMAPIT = "create table annotation (addr TEXT, router TEXT, asn INT, conn_asn INT)"


def csv_of(head, separator=","):
    rows = ((addr, str(max(asn, -1)), router) for addr, asn, router in ROWS)
    return head + "".join(f"{separator.join(row)}\n" for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        csv_of("address,asn,router\n"),
        csv_of(""),
        csv_of("IP;AS;node\n", ";"),
        csv_of("addr\towner\trouter\tmore\n", "\t"),
        "\ufeff" + csv_of("address,asn,router\r\n").replace("\n", "\r\n"),
        csv_of("address,asn,router\n") + "20.1.0.1,1,r\n",
    ],
)
def test_a_table_says_owners_and_routers(tmp_path, text):
    path = tmp_path / "owners.csv"
    path.write_text(text)
    output, report = read_output(path)
    assert said(output) == OWNERS
    assert (output.method, output.joins, output.near) == ("CSV", True, None)
    assert not report.rejected
    path.write_bytes(gzip.compress(text.encode()))
    assert said(read_output(path)[0]) == OWNERS


def test_broken_lines_of_a_table_are_counted(tmp_path):
    path = tmp_path / "owners.csv"
    lines = ["20.1.0.1,1", "x,1", "20.1.0.2,-", "20.1.0.3,4294967296", "20.1.0.4", '"20.1.0.5,7']
    path.write_text("address,asn\n" + "\n".join([*lines, f"20.1.0.6,1,{'r' * 300}"]))
    output, report = read_output(path)
    assert said(output).keys() == {"20.1.0.1", "20.1.0.6"}  # its third column is no router
    assert report.rejected.total() == 5
    assert "not an address" in report.rejected


def test_a_negative_number_is_no_as_but_an_exchange_in_the_csv_of_bdrmapit(tmp_path):
    path = tmp_path / "owners.csv"
    path.write_text("addr,asn\n20.1.0.1,1\n20.1.0.2,-53807\n")
    output, report = read_output(path)
    assert (said(output).keys(), report.rejected) == ({"20.1.0.1"}, {"not an AS number": 1})
    path.write_text("addr,asn,conn_asn\n20.1.0.1,1,2\n20.1.0.2,-53807,1\n")
    output, report = read_output(path)
    assert [asn for asn, _ in said(output).values()] == [1, NO_ASN]
    assert not report.rejected


def test_a_router_in_several_ases_is_in_that_of_most(tmp_path):
    path = tmp_path / "owners.csv"
    path.write_text("20.1.0.1,2,r\n20.1.0.2,1,r\n20.1.0.3,2,r\n20.1.0.4,2,q\n20.1.0.5,1,q\n")
    output, _ = read_output(path)
    assert [asn for asn, _ in said(output).values()] == [2, 2, 2, 1, 1]
    assert output.n_several == 2


def made(path, *statements, rows=()):
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
        if rows:
            database.executemany(
                "insert into annotation (addr, asn, router) values (?, ?, ?)", rows
            )
    database.close()
    return path


def test_annotations_of_bdrmapit_say_owners_and_routers(tmp_path):
    rows = [*ROWS, ("x", 1, "x"), (7, 1, "x"), (None, 1, "x"), ("20.4.0.1", "text", None)]
    output, report = read_output(made(tmp_path / "a b%.db", BRDMAPIT, rows=rows))
    assert said(output) == OWNERS | {"20.4.0.1": (NO_ASN, "20.4.0.1")}
    assert output.method == "bdrmapIT"
    assert dict(report.rejected) == {"not an address": 3}


def test_a_database_that_is_not_of_bdrmapit_is_named(tmp_path):
    other = tmp_path / "other.db"
    made(other, BRDMAPIT, "alter table annotation rename to t", "create view annotation as "
         "with recursive n(addr) as (select 1 union all select addr + 1 from n) "
         "select addr, addr as asn, addr as router from n")  # fmt: skip
    with pytest.raises(FormatError, match="not of bdrmapIT"):
        read_output(other)
    lacks = made(tmp_path / "lacks.db", BRDMAPIT, "alter table annotation rename asn to asn2",
                 "alter table annotation rename conn_asn to as2")  # fmt: skip
    with pytest.raises(FormatError, match="no column asn"):
        read_output(lacks)
    whole = made(tmp_path / "whole.db", BRDMAPIT, rows=ROWS * 400)
    (tmp_path / "cut.db").write_bytes(whole.read_bytes()[:5000])
    with pytest.raises(FormatError, match=r"SQLite"):
        read_output(tmp_path / "cut.db")
    with pytest.raises(FormatError, match="no address in it"):
        read_output(made(tmp_path / "none.db", BRDMAPIT))


def kit(folder, links="link L1:  N1:20.1.0.1 N2\nlink L2:  N2 N9\n"):
    (folder / "kit.nodes").write_text(
        "# made\nnode N1:  20.1.0.1 20.1.0.2\nnode N2:  20.2.0.1\nnode N3:  20.3.0.1\n"
    )
    (folder / "kit.nodes.as").write_text("node.AS N1 1 x\nnode.AS N2 2 x\nnode.AS N77 7 x\n")
    if links:
        (folder / "kit.links").write_text(links)


@pytest.mark.parametrize("name", ["kit.nodes", "kit.nodes.as", "kit.links", ""])
def test_an_itdk_says_owners_routers_and_links(tmp_path, name):
    kit(tmp_path)
    output, _ = read_output(tmp_path / name)
    assert said(output) == OWNERS
    assert output.near is not None
    ends = [output.router[0], output.router[2]]
    assert [output.near[0], output.far[0]] == ends
    assert (len(output.asn), len(output.near)) == (4, 2)  # N9 has no address
    topology = topology_of_output(output, ())
    assert topology.n_nodes == 4
    assert format_addrs(topology.addrs) == list(OWNERS)


def test_an_itdk_may_lack_links_and_must_have_routers(tmp_path):
    kit(tmp_path, links="")
    output, _ = read_output(tmp_path)
    assert (said(output), output.near) == (OWNERS, None)
    (tmp_path / "kit.nodes").unlink()
    with pytest.raises(FormatError, match=r"kit\.nodes"):
        read_output(tmp_path / "kit.nodes.as")
    with pytest.raises(FormatError, match="0 files end with"):
        read_output(tmp_path)


def test_ingresses_are_where_traces_enter_the_ases_that_are_said(tmp_path):
    # q is numbered from AS 1 and said to be of AS 2; nobody says whose 20.9.0.1 is.
    p, q, r, other = "20.1.0.1", "20.1.0.5", "20.2.0.1", "20.9.0.1"
    observations = [observe(tmp_path, traces(f"{p} {q} {r}", f"{p} {other} {r}"))]
    addrs, asn = parse_addrs([p, q, r, "20.7.0.1"]), np.array([1, 2, 2, 7])
    alone = topology_of_output(Output.of_addresses("x", addrs, asn), observations)
    texts = format_addrs(alone.node_addr)
    named = {text: int(one) for text, one in zip(texts, alone.node_asn, strict=True)}
    assert named == {p: 1, q: 2, r: 2, other: NO_ASN, "20.7.0.1": 7}
    stated = ~alone.ingresses.candidate
    assert [texts[node] for node in alone.ingresses.node[stated]] == [q]
    joined = topology_of_output(
        Output.of_addresses("x", addrs, asn, ["", "s", "s", ""]), observations
    )
    node = dict(zip(format_addrs(joined.addrs), joined.addr_node.tolist(), strict=True))
    assert node[q] == node[r]
    assert joined.n_nodes == 4
    assert len(topology_of_output(Output.of_addresses("x", addrs, asn), ()).ingresses) == 0
