"""Scripts of addresses say every address with its AS, and are small."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.addresses import V4_PREFIX, format_addr, parse_addr, sort_addrs, unique_addrs
from pipeline.report.addresses import shards
from pipeline.report.addresses.shards import numbers_text, write_addresses
from pipeline.report.addresses.table import AddressList

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def numbers(text: str) -> list[int]:
    """One digit after another, as the definition says."""
    found, value, shift = [], 0, 0
    for character in text:
        digit = DIGITS.index(character)
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            found.append(value)
            value = shift = 0
    assert shift == 0
    return found


def call(path: Path) -> tuple:
    """Arguments of the call that a script is."""
    text = re.fullmatch(r"hopscope\.addresses\((.*)\);\n", path.read_text(encoding="ascii")).group(
        1
    )
    return tuple(json.loads(f"[{text}]"))


def read_shard(path: Path, v4: bool) -> list[tuple[str, int, bool]]:
    _, shard = call(path)
    gaps, texts = numbers(shard["gaps"]), []
    if v4:
        texts = [format_addr(0, int(V4_PREFIX) | int(low)) for low in np.cumsum(gaps)]
    else:
        high = low = 0
        for step, given_low in zip(gaps[::2], gaps[1::2], strict=True):
            high, low = high + step, given_low if step else low + given_low
            texts.append(format_addr(high, low))
    runs = numbers(shard["owners"])
    asns = [
        shard["asns"][place]
        for n, place in zip(runs[::2], runs[1::2], strict=True)
        for _ in range(n)
    ]
    marked = set(np.cumsum(numbers(shard["ingresses"])).tolist())
    return [(text, asn, i in marked) for i, (text, asn) in enumerate(zip(texts, asns, strict=True))]


def listed(addr: np.ndarray, asn: np.ndarray, ingress: np.ndarray, node: np.ndarray) -> AddressList:
    return AddressList(addr, asn, ingress, node, np.full(len(addr), np.nan, np.float32))


def made(addr: np.ndarray, seed: int = 1) -> AddressList:
    rng = np.random.default_rng(seed)
    asn = np.sort(rng.choice([7, 3356, 400_000], len(addr)))
    return listed(addr, asn, rng.random(len(addr)) < 0.2, rng.integers(0, 40, len(addr)))


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_numbers_come_back(values):
    assert numbers(numbers_text(np.array(values, np.uint64))) == values


def test_every_address_comes_back_from_its_shard(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 50)
    rng = np.random.default_rng(3)
    v4 = np.stack([np.zeros(220, np.uint64), V4_PREFIX | rng.integers(0, 2**32, 220, np.uint64)], 1)
    v6 = rng.integers(0, 2**64, (70, 2), np.uint64, endpoint=False)
    v6[:30, 0] = 0x2001_0DB8_0000_0000
    v6[30] = parse_addr("::1")
    table = made(unique_addrs([v4, v6]))
    n = write_addresses(table, tmp_path)
    key, index = call(tmp_path / "addresses" / "index.js")
    assert key == "index"
    assert index["n"] == len(table)
    assert n == len(index["v4"]) + len(index["v6"]) == 5 + 2
    found = []
    for number in range(n):
        shard = read_shard(tmp_path / "addresses" / f"{number}.js", number < len(index["v4"]))
        assert shard[0][0] == (index["v4"] + index["v6"])[number]
        assert len(shard) <= 50
        found += shard
    texts = [format_addr(high, low) for high, low in table.addr.tolist()]
    wanted = zip(texts, table.asn.tolist(), table.ingress.tolist(), strict=True)
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(("v6_share", "most"), [(0.0, 6), (0.15, 8), (1.0, 12)])
def test_an_address_takes_few_bytes(tmp_path, v6_share, most):
    """As on the Internet: blocks of some addresses each, IPv6 links numbered one by one."""
    rng = np.random.default_rng(5)
    n = 60_000
    n_v6 = int(v6_share * n)
    blocks = np.repeat(rng.integers(1 << 24, 224 << 24, (n - n_v6) // 10 + 1, np.uint64), 10)
    v4 = (blocks & np.uint64(0xFFFF_FF00)) + rng.integers(0, 256, len(blocks), np.uint64)
    v4 = np.stack([np.zeros(len(v4), np.uint64), V4_PREFIX | v4], 1)[: n - n_v6]
    sites = np.repeat(rng.integers(0, 1 << 24, n_v6 // 4 + 1, np.uint64) << np.uint64(24), 4)[:n_v6]
    nets = np.uint64(0x2001 << 48) + sites + rng.integers(0, 4096, n_v6, np.uint64)
    v6 = np.stack([nets, rng.integers(1, 3, n_v6, np.uint64)], 1)
    addr = unique_addrs([v4, v6])
    owners = (addr[:, 0] >> np.uint64(24)) + (addr[:, 1] >> np.uint64(12))
    asn = np.random.default_rng(1).integers(1, 400_000, 70_000)[
        np.unique(owners, return_inverse=True)[1] % 70_000
    ]
    write_addresses(listed(addr, asn, rng.random(len(addr)) < 0.1, np.arange(len(addr))), tmp_path)
    size = sum(path.stat().st_size for path in (tmp_path / "addresses").iterdir())
    assert size / len(addr) < most
    assert (sort_addrs(addr) == np.arange(len(addr))).all()


def test_a_report_of_one_family_has_no_shards_of_the_other(tmp_path):
    addr = np.array([parse_addr("2001:db8::1")], np.uint64)
    assert (
        write_addresses(listed(addr, np.array([10]), np.array([True]), np.array([0])), tmp_path)
        == 1
    )
    _, index = call(tmp_path / "addresses" / "index.js")
    assert index == {"v4": [], "v6": ["2001:db8::1"], "n": 1}
