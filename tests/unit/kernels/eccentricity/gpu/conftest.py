"""The graphs of these tests are small, and are answered on the GPU all the same."""

from __future__ import annotations

import pytest

import kernels.eccentricity


@pytest.fixture(autouse=True)
def on_the_gpu(monkeypatch):
    monkeypatch.setattr(kernels.eccentricity, "FEW", 0)
