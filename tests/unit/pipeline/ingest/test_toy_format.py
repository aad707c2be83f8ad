"""A new format is a reader and one row: all commands, messages and contracts follow from them."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.config import IngestConfig
from pipeline.config.contents import TraceFormat
from pipeline.ingest import FORMATS, Format
from pipeline.model.measured.origins import origins_of
from pipeline.options import options_of
from pipeline.store import open_snapshot
from pipeline.writers import WRITERS
from tests.real_data import REPOSITORY

ROW = Format("tests.unit.pipeline.ingest.toy_reader", "traces", (".toy",), "toys")
TRACES = b"""TOY
192.0.2.200 192.0.2.10 192.0.2.20 192.0.2.30
192.0.2.201 192.0.2.10 192.0.2.50
192.0.2.x
192.0.2.202 192.0.2.10 192.0.2.20 192.0.2.40
"""
LAB = ("--asn", "64500", "--allow-special", "192.0.2.0/24", "--snapshot", "toy")


@pytest.fixture
def _toy(monkeypatch):
    monkeypatch.setitem(FORMATS, "toy", ROW)


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


@pytest.mark.usefixtures("_toy")
@pytest.mark.parametrize("forced", [(), ("--format", "toy")])
def test_a_toy_format_goes_through_the_command(forced, tmp_path, capsys):
    path = tmp_path / "a.toy"
    path.write_bytes(TRACES)
    assert run("ingest", path, *forced, *LAB, "--store", tmp_path / "store") == 0
    assert "3 traces" in capsys.readouterr().out
    snapshot = open_snapshot(tmp_path / "store", "toy")
    assert snapshot.n_nodes.tolist() == [5]
    (given,) = snapshot.manifest["inputs"]
    assert (given["format"], given["holds"]) == ("toy", "traces")
    assert given["rejected"] == {"no address": 1}
    assert origins_of(snapshot.manifest, snapshot.asn).has_traces


@pytest.mark.usefixtures("_toy")
def test_a_name_that_claims_the_toy_format_is_an_error_where_the_content_is_of_none(
    tmp_path, capsys
):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.toy").write_bytes(TRACES)
    (folder / "b.toy.gz").write_bytes(b"Dear all,\n")
    (folder / "c.txt").write_bytes(b"Dear all,\n")
    assert run("ingest", folder, *LAB, "--store", tmp_path / "store") == 1
    said = capsys.readouterr()
    named = [line for line in (said.out + said.err).splitlines() if "unknown format" in line]
    assert len(named) == 1
    assert "b.toy.gz" in named[0]
    assert named[0].endswith(f"known formats: {', '.join(FORMATS)}")
    assert "toy" in FORMATS


@pytest.mark.usefixtures("_toy")
def test_messages_know_the_toy_format(tmp_path, capsys):
    path = tmp_path / "a.toy"
    path.write_bytes(TRACES)
    assert run("ingest", path, "--format", "toys", *LAB, "--store", tmp_path / "store") == 2
    said = capsys.readouterr().err
    assert "--format takes warts, " in said
    assert ", toy, traces, topology, not 'toys'" in said
    brite = REPOSITORY / "data" / "samples" / "brite" / "topdown_java.brite"
    assert run("ingest", path, brite, *LAB, "--store", tmp_path / "store") == 2
    assert "--format traces or --format topology selects one kind" in capsys.readouterr().err


def test_flows_offer_a_format_that_has_a_row():
    code = (
        "from pipeline.ingest import FORMATS, Format\n"
        f"FORMATS['toy'] = {ROW!r}\n"
        "from flows.options import further_options\n"
        "from pipeline.config import IngestConfig\n"
        "from pipeline.options import options_of\n"
        "further = further_options(options_of(IngestConfig))\n"
        "print(further.model_json_schema()['properties']['format'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert str([*FORMATS, "toy", "traces", "topology"]) in done.stdout


def test_formats_are_named_by_their_row_and_their_reader_alone():
    registry = REPOSITORY / "pipeline" / "ingest" / "__init__.py"
    history = (
        REPOSITORY / "pipeline" / "model" / "measured" / "origins.py"
    )  # manifests of earlier versions
    readers = {name: FORMATS[name].reader for name in FORMATS}
    written = {*WRITERS, *get_args(TraceFormat)}  # formats of what is written, too
    alike = {*written, *(each.name for each in options_of(IngestConfig))}
    elsewhere = []
    for path in [*REPOSITORY.glob("pipeline/**/*.py"), *REPOSITORY.glob("flows/**/*.py")]:
        module = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        text = path.read_text()
        # They know no files; a rule, or a kind of event, may be named alike.
        # Outputs of other methods are no inputs.
        if module.startswith(("pipeline.infer.", "pipeline.compare.", "pipeline.judge.outputs.")):
            continue
        if not any(word in text for word in (*readers, *readers.values())):
            continue
        for node in ast.walk(ast.parse(text)):
            said = [node.value] if isinstance(node, ast.Constant) else []
            said += [node.module] if isinstance(node, ast.ImportFrom) else []
            said += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name, reader in readers.items() if said else ():
                if path in (registry, history) or module.startswith(reader):
                    continue
                is_named = name not in alike and name in said
                if is_named or any(str(word).startswith(reader) for word in said):
                    elsewhere.append((module, name))
    assert elsewhere == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The readers and what they import, with only the contract between them."""
    root = tmp_path_factory.mktemp("readers")
    for part in ("ingest", "model"):
        shutil.copytree(
            REPOSITORY / "pipeline" / part,
            root / "pipeline" / part,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    (root / "pipeline" / "__init__.py").touch()
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    (contract,) = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["name"] == "readers do not know one another"
    ]
    lines = ["[importlinter]", "root_packages =\n  pipeline", "", "[importlinter:contract:1]"]
    for key, value in contract.items():
        lines += [f"{key} =", *(f"  {word}" for word in value)] if isinstance(value, list) else []
        lines += [f"{key} = {value}"] if isinstance(value, str) else []
    (root / ".importlinter").write_text("\n".join(lines) + "\n")
    return root


def lint(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("from pipeline.ingest.column_reader import ColumnReader", True),
        ("from pipeline.ingest.warts import read", False),
        ("from pipeline.ingest import brite", False),
    ],
)
def test_the_contract_between_readers_holds_for_a_reader_that_it_does_not_name(copy, line, kept):
    toy = copy / "pipeline" / "ingest" / "toy.py"
    toy.write_text(line + "\n")
    done = lint(copy)
    assert done.returncode == (0 if kept else 1), done.stdout + done.stderr
    assert kept or "pipeline.ingest.toy -> pipeline.ingest." in done.stdout


def test_a_topology_of_a_new_format_is_a_source_of_its_ases():
    entry = {"path": "a.toy", "format": "toy", "status": "ok", "as_ranges": [[5, 5]]}
    manifest = {"inputs": [entry | {"holds": "topology"}], "kind": "router"}
    origins = origins_of(manifest, np.array([5]))
    assert not origins.has_traces
    assert [source.path for source in origins.sources] == ["a.toy"]


def test_every_reader_is_where_the_contract_looks():
    for format in FORMATS.values():
        assert format.reader.rpartition(".")[0] == "pipeline.ingest"
