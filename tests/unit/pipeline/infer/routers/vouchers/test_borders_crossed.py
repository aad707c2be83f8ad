"""Single vouchers of which one observer saw two sides: when they are believed, and when not."""

import pytest

from tests.unit.pipeline.infer.handmade import infer, nodes_of

# Two addresses X and Y of one router of AS 1, entered from two others, before B of AS 2. One
# observer sees both. Behind B is the rest of AS 2.
X, Y = "20.1.3.1", "20.1.4.1"
FIRST, SECOND = "20.1.1.1", "20.1.2.1"
BEHIND = "20.2.2.1 20.2.3.1"


def nodes(scratch, b, *more, before=(FIRST, SECOND), aim="20.2.9.9"):
    lines = [
        f"20.1.91.1 20.1.92.1 {way} {side} {b} {BEHIND} > {aim}"
        for way, side in zip(before, (X, Y), strict=True)
    ]
    # Whose router b is on: its AS has the next ones, and so do destinations.
    lines += [f"20.1.91.1 20.1.92.1 20.1.5.1 {FIRST} > 20.1.9.{i}" for i in (1, 2)]
    return nodes_of(infer(scratch, *lines, *more, borders="elected", routers="inferred"))


def joined(found):
    assert X in found
    return Y not in found


@pytest.mark.parametrize("b", ["20.1.7.1", "20.2.1.1"], ids=["of-their-as", "of-its-own"])
def test_the_border_to_another_as_is_crossed_at_one_router(tmp_path, b):
    assert joined(nodes(tmp_path, b))


def test_inside_an_as_many_routers_precede_another(tmp_path):
    lines = [
        f"20.1.91.1 20.1.92.1 {way} {side} 20.1.7.1 20.1.8.1 20.1.8.5 > 20.1.9.9"
        for way, side in ((FIRST, X), (SECOND, Y))
    ]
    found = nodes_of(infer(tmp_path, *lines, borders="elected", routers="inferred"))
    assert not joined(found)


def test_two_sides_behind_one_router_are_two_routers(tmp_path):
    assert not joined(nodes(tmp_path, "20.1.7.1", before=(FIRST, FIRST)))


def test_sides_in_one_trace_are_two_routers(tmp_path):
    assert not joined(nodes(tmp_path, "20.1.7.1", f"20.1.91.1 {X} {Y} 20.1.6.1"))
