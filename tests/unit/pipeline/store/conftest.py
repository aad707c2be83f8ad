from __future__ import annotations

import tempfile

import pytest


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path_factory, monkeypatch):
    """Leftovers of workers that other tests kill meanwhile are none of these tests'."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
