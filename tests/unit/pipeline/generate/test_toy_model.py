"""A new model is a module and one row: choices, messages, help and docs follow from them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from pipeline.cli import main
from pipeline.generate import MODELS, Model
from pipeline.stages.generate import OPTIONS
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY

ROW = Model("tests.unit.pipeline.generate.toy_model", ("smallest", "cut"), "a ring", "a toy")


@pytest.fixture
def _toy(monkeypatch):
    monkeypatch.setitem(MODELS, "toy", ROW)


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


@pytest.mark.usefixtures("_toy")
def test_a_toy_model_goes_through_the_command(tmp_path, capsys):
    words = ("generate", "toy", "--routers", 12, "--min-routers", 2, "--cut", 0)
    given = ("--asn", 7, "--ingresses", 3, "--store", tmp_path, "--snapshot", "toy")
    assert run(*words, *given) == 0
    assert "12 routers, 12 links" in capsys.readouterr().out
    snapshot = open_snapshot(tmp_path, "toy")
    assert snapshot.asn.tolist() == [7]
    assert snapshot.graph(0).n_edges == 12
    command = "hopscope generate toy --routers 12 --min-routers 2 --cut 0.0 --seed 1"
    assert snapshot.manifest["options"]["command"] == f"{command} --asn 7 --ingresses 3"


@pytest.mark.usefixtures("_toy")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["toy", "--rows", 3],
            "--rows is not an option of toy to a file; "
            "it takes --routers, --min-routers, --cut, --seed, --out, --store",
        ),
        (
            ["toys"],
            "MODEL takes ba, ba2, glp, waxman, top-down, bottom-up, grid, degrees, rmat, internet, "
            "toy, not 'toys'",
        ),
    ],
)
def test_messages_know_the_toy_model(words, message, tmp_path, capsys):
    assert run("generate", *words, "--routers", 12, "--out", tmp_path / "a.brite") == 2
    assert message in capsys.readouterr().err


def test_help_knows_a_model_that_has_a_row():
    code = (
        "from pipeline.generate import MODELS, Model\n"
        f"MODELS['toy'] = {ROW!r}\n"
        "from pipeline.cli import main\n"
        "main(['generate', '--help'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    help = " ".join((done.stdout + done.stderr).split())
    models = "ba (Barabasi-Albert), ba2 (Albert-Barabasi), glp, waxman, top-down, bottom-up, grid, "
    models += "degrees, rmat (R-MAT), internet"
    assert f"{models} (ba --internet), or toy (a toy); none with --like." in help
    of_ases = "ASes (top-down, bottom-up, internet) (--like) [those of the snapshot] (--traces) ["
    assert of_ases in help
    assert "Size of the smallest AS (internet, toy) [up to 20]." in help


def test_models_are_named_by_their_row_and_their_module_alone():
    """Except ``--internet``, an option of the model ba, and the default of a hierarchy's levels.

    A kind of networks that are traced is called ``internet``, too, and made by the same command.
    """
    registry = REPOSITORY / "pipeline" / "generate" / "__init__.py"
    modules = {name: model.module.rpartition(".")[2] for name, model in MODELS.items()}
    is_named = re.compile(rf"""["'](?:{"|".join(modules)})["']""")
    elsewhere = set()
    for path in [*REPOSITORY.glob("pipeline/**/*.py"), *REPOSITORY.glob("flows/**/*.py")]:
        if path == registry or "metrics" in path.parts:  # degrees are measured, too
            continue
        if not is_named.search(text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value in modules:
                elsewhere.add((path.stem, node.value))
    of_networks = {("networks", "internet"), ("plan", "internet")}
    assert elsewhere - of_networks == {
        ("generate", "ba"),
        ("generate", "internet"),
        ("synthetic", "ba"),
    }


def test_the_table_of_the_docs_is_that_of_the_models():
    text = (REPOSITORY / "docs" / "generate.md").read_text()
    rows = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("| `")]
    for name, model in MODELS.items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}`")]
        flags = [f"`--{OPTIONS[option].replace('_', '-')}`" for option in model.options]
        assert row.endswith(f"| {', '.join(flags)} |")
    # Options stand nowhere but in the rows of models.
    others = [line for line in text.splitlines() if line.startswith("| ") and line not in rows]
    assert not [line for line in others if line.count("`--") > 3]
