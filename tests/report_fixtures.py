"""Reports for tests in a browser, made once for all files that one process tests.

A test module sets ``pytest_plugins = ("tests.browser", "tests.report_fixtures")``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import report_folders


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """Few ASes with hostile names."""
    return report_folders.small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def wide(tmp_path_factory) -> Path:
    """Few ASes with widths."""
    return report_folders.wide(tmp_path_factory.mktemp("wide"))


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """The index of 50,000 ASes."""
    return report_folders.large(tmp_path_factory.mktemp("large"))
