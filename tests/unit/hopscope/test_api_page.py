"""docs/api.md has every public name, and each has a docstring to show there."""

from __future__ import annotations

import importlib
import re

import pytest

import hopscope
import kernels
from tests.real_data import REPOSITORY

SHOWN = set(re.findall(r"^::: (\S+)$", (REPOSITORY / "docs" / "api.md").read_text(), re.MULTILINE))
# The page says in words what these are.
IN_WORDS = {"hopscope.CSRGraph", "hopscope.__version__"}
PUBLIC = {f"{home.__name__}.{name}" for home in (hopscope, kernels) for name in home.__all__}


def test_every_public_name_is_on_the_page():
    assert PUBLIC - IN_WORDS == SHOWN


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_each_of_them_is_described(name):
    home, _, own = name.partition(".")
    shown = getattr(importlib.import_module(home), own)
    assert (shown.__doc__ or "").strip()
    if isinstance(shown, type):
        public = [each for key, each in vars(shown).items() if key[0] != "_" and callable(each)]
        assert [each for each in public if not getattr(each, "__doc__", None)] == []
