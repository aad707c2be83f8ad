"""The graphs of these tests are small, and are answered on the GPU all the same."""

from __future__ import annotations

import pytest

import kernels.eccentricity


@pytest.fixture(autouse=True, scope="module")
def on_the_gpu():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels.eccentricity, "FEW", 0)
        yield
