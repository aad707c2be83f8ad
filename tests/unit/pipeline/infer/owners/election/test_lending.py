"""ASes that number their inner links from another AS's addresses."""

from tests.unit.pipeline.infer.handmade import asn_of, infer

# AS 1's routers 20.1.0.*, then those of AS 2, whose links to each other are numbered from AS 1;
# traces to addresses of AS 2 end at each of them.
INSIDE = ["20.1.5.2", "20.1.5.6", "20.1.5.10", "20.1.5.14"]
WAY = "20.1.0.1 20.1.0.5 20.1.0.9"
PROVIDER = [f"{WAY} 20.1.0.{13 + 4 * i} > 20.1.{i + 8}.8" for i in range(4)]
LINES = [
    *PROVIDER,
    f"{WAY} 20.2.0.2 > 20.2.1.8",
    *(f"{WAY} 20.2.0.2 {' '.join(INSIDE[: i + 1])} > 20.2.{i + 2}.8" for i in range(len(INSIDE))),
]


def test_an_as_whose_routers_all_have_another_ass_addresses_keeps_them(tmp_path):
    found = asn_of(infer(tmp_path, *LINES, borders="elected"))
    assert {found[addr] for addr in INSIDE} == {2}
    assert found["20.1.0.9"] == 1
    assert found["20.2.0.2"] == 2


def test_the_order_of_traces_makes_no_difference(tmp_path):
    one = asn_of(infer(tmp_path, *LINES, borders="elected"))
    assert asn_of(infer(tmp_path, *LINES[::-1], borders="elected")) == one


def test_a_router_before_a_silent_customer_stays_in_its_as(tmp_path):
    # One router only: it may well be the provider's, and the customer's does not answer.
    lines = [*PROVIDER, f"{WAY} 20.1.0.13 20.1.0.33 20.1.5.2 > 20.2.1.8"]
    lines += [f"{WAY} 20.1.0.13 20.1.0.33 20.1.0.37 > 20.1.20.8"]
    found = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert found["20.1.0.33"] == 1
