"""What a package index gets: a README whose links lead somewhere from there."""

from __future__ import annotations

import email
import re
import subprocess
import tarfile
import zipfile

import pytest
from markdown_it import MarkdownIt

import hopscope
from deploy.distribution import (
    PLATFORM,
    DistributionError,
    build,
    of_wheels,
    version_of,
    with_absolute_links,
)
from tests.real_data import REPOSITORY

ADDRESS = "https://example.org/some/hopscope"
PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "tiny"
dynamic = ["version"]
readme = "README.md"

[tool.setuptools]
packages = ["tiny"]

[tool.setuptools.dynamic]
version = { attr = "tiny.__version__" }
"""
CONTAINER = """FROM base
COPY locks/cpu.txt /tmp/cpu.txt
RUN pip install -r /tmp/cpu.txt

COPY pyproject.toml README.md /src/
COPY tiny /src/tiny
RUN pip install --no-deps --no-build-isolation /src
"""
README = "# Tiny\n\nSee [the page](docs/page.md#part), [this](#tiny) and ![it](docs/a.png).\n"


def targets(markdown: str) -> list[str]:
    """Where links and pictures lead, as a reader of Markdown sees it, not our own pattern."""
    found, left = [], MarkdownIt("commonmark").enable("table").parse(markdown)
    while left:
        token = left.pop()
        found += [str(token.attrs[name]) for name in ("href", "src") if name in token.attrs]
        assert not re.search(r"<(a|img)\b", token.content if "html" in token.type else "")
        left += token.children or []
    return found


def tracked() -> list[str]:
    words = ["git", "ls-files"]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture
def clone(tmp_path):
    """A repository of one commit, with a package that is as small as can be."""
    folder = tmp_path / "clone"
    files = {"pyproject.toml": PYPROJECT, "README.md": README, "docs/page.md": "p"}
    files |= {
        "tiny/__init__.py": '__version__ = "1.2"\n',
        "docs/a.png": "",
        "locks/cpu.txt": "a==1",
    }
    files |= {"Containerfile": CONTAINER, "CITATION.cff": "version: 1.2\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    by = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*by, "commit", "-q", "-m", "First"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


def test_every_link_of_the_readme_is_absolute_and_leads_to_a_file_of_the_repository():
    files = tracked()
    text = with_absolute_links((REPOSITORY / "README.md").read_text(), ADDRESS, "1.2", files)
    shown = targets(text)
    assert len(shown) == len(targets((REPOSITORY / "README.md").read_text())) > 20
    for target in shown:
        path = re.match(rf"{ADDRESS}/(?:blob|raw)/v1\.2/([^#]+)", target)
        assert path or target.startswith("https://"), target
        assert path is None or path[1] in files
    assert f"]({ADDRESS}/raw/v1.2/docs/images/report.png)" in text


def test_what_is_uploaded_says_so_and_the_clone_stays_as_it_is(clone, tmp_path):
    wheel, source, *beside = build(clone, tmp_path / "dist", ADDRESS + "/")
    assert [wheel.suffix, source.suffix] == [".whl", ".gz"]
    texts = {path.name: path.read_text() for path in beside}
    assert texts.pop("Containerfile") == (
        "FROM base\nCOPY cpu.txt /tmp/cpu.txt\nRUN pip install -r /tmp/cpu.txt\n\n"
        "COPY *.whl /src/\nRUN pip install --no-deps --no-index --find-links /src tiny==1.2\n"
    )
    assert texts == {"CITATION.cff": "version: 1.2\n", "cpu.txt": "a==1"}
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("METADATA"))
        of_wheel = email.message_from_bytes(archive.read(name))
    shown = (
        f"See [the page]({ADDRESS}/blob/v1.2/docs/page.md#part), [this](#tiny) "
        f"and ![it]({ADDRESS}/raw/v1.2/docs/a.png)."
    )
    with tarfile.open(source) as archive:
        files = [archive.extractfile(f"tiny-1.2/{name}") for name in ("README.md", "PKG-INFO")]
        readme, facts = (file.read() for file in files if file is not None)
    assert shown in readme.decode()
    for metadata in (of_wheel, email.message_from_bytes(facts)):
        assert metadata["Project-URL"] == f"Repository, {ADDRESS}"
        assert shown in str(metadata.get_payload())
        leads = sorted(targets(str(metadata.get_payload())))
        assert [target.split("/v1.2/")[0] for target in leads] == [
            "#tiny",
            f"{ADDRESS}/blob",
            f"{ADDRESS}/raw",
        ]
    assert (clone / "README.md").read_text() == README
    assert (clone / "pyproject.toml").read_text() == PYPROJECT


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (None, "no public address.*make dist ADDRESS="),
        ("ftp://example.org/a", "give the https URL"),
        ("https://example.org/", "give the https URL"),
    ],
)
def test_without_an_address_nothing_is_built(clone, tmp_path, address, message):
    with pytest.raises(DistributionError, match=message):
        build(clone, tmp_path / "dist", address)
    assert not list((tmp_path / "dist").iterdir())


def test_the_version_is_read_where_it_is_kept_and_the_container_installs_it():
    version = version_of(REPOSITORY)
    assert version == hopscope.__version__
    text = of_wheels((REPOSITORY / "Containerfile").read_text(), "hopscope", version)
    copied = [line for line in text.splitlines() if line.startswith("COPY")]
    assert copied == ["COPY cpu.txt /tmp/cpu.txt", "COPY *.whl /src/"]
    assert f"--find-links /src hopscope=={version} \\\n" in text
    with pytest.raises(DistributionError, match=r"Containerfile: COPY .* is there 0 times"):
        of_wheels("FROM base\n", "hopscope", version)


def test_a_link_that_leads_nowhere_is_refused_and_code_is_left_alone():
    with pytest.raises(DistributionError, match=r"docs/none\.md is not a file"):
        with_absolute_links("[a](docs/none.md)", ADDRESS, "1", ["docs/page.md"])
    code = "```\n[a](docs/none.md)\n```\n[mail](mailto:a@example.org)\n"
    assert with_absolute_links(code, ADDRESS, "1", []) == code


def test_each_python_whose_compiled_code_there_is_has_a_wheel_with_it(clone, tmp_path):
    archives = clone / "kernels" / "compiled" / "archives"
    archives.mkdir(parents=True)
    mine = "cpython-{}-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz"
    for name in (mine.format(311), mine.format(314), "cubins-sm_90.tar.xz"):
        (archives / name).touch()
    for package in (archives.parent, archives.parent.parent):
        (package / "__init__.py").touch()
    settings = PYPROJECT.replace('["tiny"]', '["tiny", "kernels", "kernels.compiled"]')
    settings += '[tool.setuptools.package-data]\nkernels = ["compiled/archives/*.tar.xz"]\n'
    (clone / "pyproject.toml").write_text(settings)
    by = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "."], [*by, "commit", "-q", "-m", "Second"]):
        subprocess.run(["git", *words], cwd=clone, check=True, capture_output=True)
    found = {}
    for path in build(clone, tmp_path / "dist", ADDRESS):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                names = [name for name in wheel.namelist() if "archives" in name]
            found[path.name] = sorted(name.rpartition("/")[2] for name in names)
    assert found == {
        "tiny-1.2-py3-none-any.whl": ["cubins-sm_90.tar.xz"],
        f"tiny-1.2-cp311-none-{PLATFORM}.whl": [mine.format(311), "cubins-sm_90.tar.xz"],
        f"tiny-1.2-cp314-none-{PLATFORM}.whl": [mine.format(314), "cubins-sm_90.tar.xz"],
    }
