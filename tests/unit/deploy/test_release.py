"""A release writes its version where it is kept, and gathers what has changed."""

from __future__ import annotations

import re

import pytest
import yaml

import hopscope
from deploy.release import AREAS, ReleaseError, fragments, release, with_section
from tests.real_data import REPOSITORY

BEFORE = "# Changelog\n\nWords.\n"
FIRST = f"""{BEFORE}
## [0.2.0] - unreleased

### The store

- Old.

### Changed

- Other.
"""
RELEASED = """
## [0.2.0] - 2026-12-01

### The store

- Old.
- New,
  and how.

### Nights

- Quiet.

### Changed

- Other.
"""


@pytest.fixture
def checkout(tmp_path):
    files = {
        "CHANGELOG.md": FIRST,
        "CITATION.cff": "title: tiny\nversion: 0.1.0\nlicense: MIT\n",
        "pipeline/__init__.py": '"""Words."""\n\n__version__ = "0.1.0"\n',
        "changelog/README.md": "How.\n",
        "changelog/store.new.md": "- New,\n  and how.\n",
        "changelog/nights.quiet.md": "- Quiet.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_release_dates_what_has_changed_and_writes_its_version(checkout):
    release(checkout, "0.2.0", "2026-12-01")
    assert (checkout / "CHANGELOG.md").read_text() == BEFORE + RELEASED
    assert (checkout / "pipeline/__init__.py").read_text() == (
        '"""Words."""\n\n__version__ = "0.2.0"\n'
    )
    assert (checkout / "CITATION.cff").read_text() == (
        "title: tiny\nversion: 0.2.0\ndate-released: 2026-12-01\nlicense: MIT\n"
    )
    assert [path.name for path in (checkout / "changelog").iterdir()] == ["README.md"]
    with pytest.raises(ReleaseError, match=r"0\.2\.0 is released already"):
        release(checkout, "0.2.0", "2026-12-02")
    with pytest.raises(ReleaseError, match="changelog/ is empty"):
        release(checkout, "0.3.0", "2026-12-02")
    (checkout / "changelog/reports.new.md").write_text("- A page.\n")
    release(checkout, "0.3.0", "2026-12-24")
    assert (checkout / "CHANGELOG.md").read_text() == (
        f"{BEFORE}\n## [0.3.0] - 2026-12-24\n\n### Reports\n\n- A page.\n{RELEASED}"
    )
    assert "date-released: 2026-12-24\nlicense" in (checkout / "CITATION.cff").read_text()


def test_a_first_section_is_made(checkout):
    made = with_section(BEFORE, "0.2.0", "2026-12-01", {"changed": ["- A."]})
    assert made == f"{BEFORE}\n## [0.2.0] - 2026-12-01\n\n### Changed\n\n- A.\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("other.new.md", "- New.\n", "other.new.md: name it <area>.<name>.md"),
        ("store.new.md", "New.\n", "store.new.md: lines begin with"),
        ("store.new.md", "  New.\n", "store.new.md: lines begin with"),
        ("store.new.md", "", "store.new.md: lines begin with"),
    ],
)
def test_what_could_not_be_gathered_is_refused_and_nothing_is_written(
    checkout, name, text, message
):
    (checkout / "changelog" / name).write_text(text)
    with pytest.raises(ReleaseError, match=message):
        release(checkout, "0.2.0", "2026-12-01")
    with pytest.raises(ReleaseError, match="give a version"):
        release(checkout, "v0.2", "2026-12-01")
    assert (checkout / "CHANGELOG.md").read_text() == FIRST


def test_the_changelog_of_this_version_is_short_and_can_be_gathered():
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    new = fragments(REPOSITORY / "changelog")
    version = re.sub(r"\.dev\d+$", "", hopscope.__version__)
    section = text.partition(f"## [{version}] - ")[2].partition("\n## ")[0].splitlines()
    lines = [line for line in section if line] + [line for part in new.values() for line in part]
    assert 10 < len(lines) <= 60
    assert {line[4:] for line in section if line.startswith("### ")} <= set(AREAS.values())
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert ("date-released" in cited) == ("dev" not in hopscope.__version__)
