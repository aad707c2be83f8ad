"""What the doctor says of leftovers, and of ASes that one GPU cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.stages.doctor import _gpu_bytes, _what_is_left


@pytest.mark.parametrize(
    ("path", "is_replaced"),
    [
        ("store/versions/night-0123456789ab", True),
        ("store/versions/.writing-0123456789ab", False),
        ("tmp/hopscope-0/workers-0123456789ab", False),
        ("out/.writing-0123456789ab", False),
    ],
)
def test_only_versions_of_snapshots_may_have_been_replaced(path, is_replaced):
    assert ("replaced" in _what_is_left(Path(path))) == is_replaced


def test_memory_of_each_gpu_is_read_from_the_driver():
    lines = "NVIDIA H200, 143771 MiB, 580.159.04\nNVIDIA H200, 143770 MiB, 580.159.04\n"
    assert _gpu_bytes(lines) == [143771 << 20, 143770 << 20]
    assert _gpu_bytes("NVIDIA H200, [N/A], 580.159.04\n") == []
