"""What shells complete that depends on a store; and hints for words that are almost known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pipeline.cli import main
from pipeline.config import completing
from tests.unit.pipeline.stages.small_store import make_store


@pytest.fixture
def store(tmp_path):
    for name in ("monday", "tuesday"):
        make_store(tmp_path / "store", name)
    return tmp_path / "store"


def completed(words: str) -> list[str]:
    """What bash is offered for the last word."""
    done = subprocess.run(
        [sys.executable, "-c", "import pipeline.cli as c; c.app(prog_name='hopscope')"],
        env=os.environ
        | {
            "_HOPSCOPE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


def test_shells_complete_snapshots_ases_and_rules(store):
    assert completed(f"hopscope show --store {store} mon") == ["monday"]
    assert completed(f"hopscope compare --store {store} monday t") == ["tuesday"]
    assert completed(f"hopscope analyze --store {store} --asn 1,") == ["1,2", "1,3"]
    assert completed(f"hopscope show --store {store} monday AS") == ["AS1", "AS2", "AS3"]
    assert completed(f"hopscope analyze --store {store} --asn as1,as") == ["as1,as2", "as1,as3"]
    assert completed("hopscope ingest --without-rule loo") == ["loops"]
    assert completed("hopscope analyze --metrics dia") == ["diameter"]


def test_nothing_is_completed_where_nothing_is_known(store, monkeypatch):
    monkeypatch.delenv("HOPSCOPE_STORE", raising=False)
    for typed in ({}, {"store": "s3://bucket/store"}, {"store": str(store / "none")}):
        assert completing.snapshots(typed, "") == completing.ases(typed, "") == []
    assert completing.ases({"store": str(store), "snapshot": "none"}, "") == []
    monkeypatch.setenv("HOPSCOPE_STORE", str(store))
    assert completing.snapshots({}, "") == ["tuesday", "monday"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("analyze --store s --out o --metrics hopz", "not 'hopz'; did you mean 'hops'?"),
        ("analyze --store s --out o --metrics hops,diametre", "did you mean 'diameter'?"),
        ("analyze --store s --out o --device gpus", "not 'gpus'; did you mean 'gpu'?"),
        ("ingest missing --store s --without-rule hosst", "did you mean 'hosts'?"),
        ("show mondey --store STORE", "did you mean 'monday'?"),
        ("analyze --out o", "'--store': pass it or set HOPSCOPE_STORE; see --help"),
    ],
)
def test_almost_right_words_are_answered_with_the_right_one(words, hint, store, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.replace("STORE", str(store)).split())
    assert ended.value.code == 2
    assert hint in capsys.readouterr().err
