"""What an installed package holds and says of itself."""

from __future__ import annotations

import re
import tomllib

import yaml

import hopscope
from tests.real_data import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~]", each)[0] for each in requirements}


def test_prefect_and_its_server_are_an_extra_that_the_locks_have():
    extra = names(PROJECT["optional-dependencies"]["serve"])
    assert extra == {"prefect", "fastapi", "sqlalchemy", "pyyaml"}
    assert not extra & names(PROJECT["dependencies"])
    for lock in ("cpu", "dev", "gpu"):
        locked = names((REPOSITORY / "locks" / f"{lock}.txt").read_text().splitlines())
        assert extra <= locked, lock


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert cited["version"] == hopscope.__version__
    assert PROJECT["dynamic"] == ["version"]
    assert cited["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


def test_the_container_gets_every_package_and_the_locked_versions():
    text = (REPOSITORY / "Containerfile").read_text()
    copied = set(re.findall(r"^COPY (\w+) /src/", text, re.MULTILINE))
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert copied == {each.rstrip("*") for each in settings["packages"]["find"]["include"]}
    assert "-r /tmp/cpu.txt" in text
