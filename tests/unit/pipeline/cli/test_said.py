"""What commands print while they work and when they are called wrongly."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from pipeline.cli import main
from pipeline.model.words import amount, ingresses_text, node_words, number, round_amount
from tests.real_data import REPOSITORY
from tests.soak import WHOLE

# Imports of a module end only when the terminal has said that the program is being loaded.
WATCHED = """
import importlib.abc, pathlib, sys, time

name, said = sys.argv[1], pathlib.Path(sys.argv[2])

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        deadline = time.monotonic() + 30
        while fullname == name and time.monotonic() < deadline:
            if "Loading" in said.read_text():
                break
            time.sleep(0.05)

sys.meta_path.insert(0, Slow())
from kernels import compiled
from pipeline.cli import main
compiled.has_compiled = lambda package="": False
main(sys.argv[3:])
"""


GENERATE = ("pipeline.stages.generate", ["generate", "ba", "--routers", "5", "--out", "a.brite"])
INGEST = ("pipeline.stages.ingest", ["ingest", "missing.warts", "--store", "store", "--asn", "7"])
SAID = [GENERATE, INGEST] if WHOLE else [GENERATE]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.1234567, "0.123457"),
        (2195.14159, "2,195.14"),
        (99_999.96, "100,000"),
        (999_999.7, "1,000,000"),
        (72_161_312.0, "72,161,312"),
        (999_999_999.7, "1e+9"),
        (17_499_999_698_944.0, "1.75e+13"),
        (3e38, "3e+38"),
        (1.2345678e-9, "1.23457e-9"),
        (0.00012345, "0.00012345"),
        (math.inf, "inf"),
    ],
)
def test_sums_of_weights_are_written_out_or_have_an_exponent(value, text):
    assert amount(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (1e-9, "1e-9"),
        (9.9996e-5, "0.0001"),
        (0.0012345, "0.00123"),
        (3418.5537, "3,418.55"),
        (99_999.996, "100,000"),
        (123_456.789, "123,457"),
        (1e12, "1e+12"),
    ],
)
def test_weights_of_tables_have_decimals_unless_they_are_very_small_or_large(value, text):
    assert amount(value, 2) == text
    assert amount(round_amount(value, 2), 2) == text


@pytest.mark.soak
@pytest.mark.parametrize(("module", "words"), SAID)
def test_a_command_says_that_it_loads_and_only_what_compiles_says_that(module, words, tmp_path):
    said = tmp_path / "said"
    with said.open("w") as stderr:
        subprocess.run(
            [sys.executable, "-c", WATCHED, module, str(said), *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            stderr=stderr,
            timeout=120,
        )
    first, *rest = said.read_text().splitlines()
    assert first == "Loading the program"
    assert len(rest) > 0
    assert ("compiling once" in rest[0]) == (words[0] == "generate")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["analyze"], "Missing option '--store': pass it or set HOPSCOPE_STORE; see --help"),
        (["ingest"], "Missing argument 'INPUT'; see --help"),
        (["frobnicate"], "No such command 'frobnicate'; see --help"),
        (["analyse"], "No such command 'analyse'. Did you mean 'analyze'? See --help"),
    ],
)
def test_a_wrong_call_is_one_sentence_with_one_mark(words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"hopscope: {message}\n"


@pytest.mark.parametrize(
    ("n", "noun", "text"),
    [
        (0, "link", "0 links"),
        (1, "AS", "1 AS"),
        (2, "AS", "2 ASes"),
        (1, "search", "1 search"),
        (1234, "search", "1,234 searches"),
        (3, "ingress", "3 ingresses"),
        (1, "broken record", "1 broken record"),
    ],
)
def test_one_has_no_plural(n, noun, text):
    assert number(n, noun) == text


def test_candidates_are_distinguished_from_ingresses():
    assert ingresses_text(35, 31) == "35 ingresses and 31 candidates"
    assert ingresses_text(1, 0) == "1 ingress"


def test_nodes_are_called_by_their_kind():
    kinds = ("interface", "router", "as", "mixed", "", None)
    ones = ["an interface", "a router", "an AS", "a node", "a node", "a node"]
    assert [node_words(kind).one for kind in kinds] == ones


@pytest.mark.parametrize("variables", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["waits", "at once"])
def test_standard_output_that_is_full_is_named(variables):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline.cli", "--version"],
            cwd=REPOSITORY,
            env=environment | variables,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stderr == "hopscope: standard output: No space left on device\n"
    assert done.returncode == 2
