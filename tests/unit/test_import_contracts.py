"""Each contract on imports breaks on a forbidden import, planted in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.real_data import REPOSITORY

pytest.importorskip("importlinter")

LINT = "import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint())"
CONFIG = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = {contract["name"]: contract for contract in CONFIG["contracts"]}
IN_ROOMS = {name: each for name, each in CONTRACTS.items() if "containers" in each}

# A module, and another of its room that imports it.
CIRCLE = ("flows.notices.notice", "flows.notices.send")


def module_file(tree: Path, module: str) -> Path:
    path = tree.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def modules_like(pattern: str) -> list[str]:
    """Modules that a contract may mean, in whose names a star is any."""
    if "*" not in pattern:
        return [pattern]
    paths = [
        path.relative_to(REPOSITORY).with_suffix("")
        for path in sorted(REPOSITORY.glob(pattern.replace(".", "/")))
        if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    return [".".join(path.parts) for path in paths if path.name[0] != "_"]


def forbidden_import(contract: dict[str, Any]) -> tuple[str, str]:
    """A module, and another that the contract forbids it to import."""
    if contract["type"] == "forbidden":
        return contract["source_modules"][0], modules_like(contract["forbidden_modules"][-1])[0]
    if contract["type"] == "acyclic_siblings":
        return CIRCLE
    if contract["type"] == "independence":
        shared = {each.rpartition(" -> ")[2] for each in contract.get("ignore_imports", ())}
        shared |= {each.removesuffix(".**") for each in shared}
        every = [name for each in contract["modules"] for name in modules_like(each)]
        first, second, *_ = (name for name in every if name not in shared)
        return first, second
    prefix = "".join(f"{container}." for container in contract.get("containers", ())[:1])
    highest, lowest = contract["layers"][0], contract["layers"][-1]
    return prefix + lowest.split(" | ")[0], prefix + highest.split(" | ")[0]


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> dict[str, str]:
    """The output of lint-imports for each broken contract, with all imports planted at once."""
    tree = tmp_path_factory.mktemp("planted")
    for package in CONFIG["root_packages"]:
        shutil.copytree(REPOSITORY / package, tree / package, ignore=shutil.ignore_patterns("*.cu"))
    shutil.copy(REPOSITORY / "pyproject.toml", tree)
    for contract in CONTRACTS.values():
        importer, imported = forbidden_import(contract)
        with module_file(tree, importer).open("a") as file:
            file.write(f"\nimport {imported}\n")
    for contract in IN_ROOMS.values():
        for container in contract["containers"]:
            module_file(tree, f"{container}.unlisted").touch()
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=tree,
        env=os.environ | {"COLUMNS": "300"},  # else it breaks long lines
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    reported = done.stdout.partition("Broken contracts\n")[2]
    names = "|".join(map(re.escape, CONTRACTS))
    parts = re.split(rf"^({names})\n-+\n", reported, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", CONTRACTS)
def test_an_import_that_a_contract_forbids_breaks_it(name, broken):
    importer, imported = forbidden_import(CONTRACTS[name])
    expected = rf"{re.escape(importer)} -> {re.escape(imported)}\b.* \(l\.\d"
    if CONTRACTS[name]["type"] == "acyclic_siblings":  # it names the room, and either import
        expected = rf"in {re.escape(imported.rpartition('.')[0])}\.\n"
    assert re.search(expected, broken[name])


@pytest.mark.parametrize("name", IN_ROOMS)
def test_a_new_module_must_have_its_place_among_the_layers(name, broken):
    (container,) = IN_ROOMS[name]["containers"]
    assert f"not listed as layers:\n\n- {container}.unlisted\n" in broken[name]
