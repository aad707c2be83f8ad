"""What serve reports before it starts anything."""

from __future__ import annotations

import os

import pytest

from flows import serve
from pipeline.config import ServeConfig


def test_installed_package_says_in_one_line_that_it_needs_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(serve, "ROOT", tmp_path)
    assert serve.main([]) == 2
    said = capsys.readouterr().err
    assert "checkout" in said
    assert "prefect.yaml" in said
    assert len(said.splitlines()) == 1


def test_files_in_variables_are_named_from_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPSCOPE_IP2AS", "v4.gz:v6.gz")
    monkeypatch.setenv("HOPSCOPE_AS_NAMES", "names:of.json")  # one file, whatever its name
    monkeypatch.setenv("HOPSCOPE_ALLOW_SPECIAL", "10.0.0.0/8")
    serve._make_paths_absolute()
    assert os.environ["HOPSCOPE_IP2AS"] == f"{tmp_path}/v4.gz:{tmp_path}/v6.gz"
    assert os.environ["HOPSCOPE_AS_NAMES"] == f"{tmp_path}/names:of.json"
    assert os.environ["HOPSCOPE_ALLOW_SPECIAL"] == "10.0.0.0/8"


def test_ports_come_from_words_then_variables_then_the_config(tmp_path, monkeypatch):
    seen: list[ServeConfig] = []
    monkeypatch.setattr(serve, "_serve", lambda config, asked_to_stop: seen.append(config) or 0)
    monkeypatch.setenv("HOPSCOPE_SERVE_PREFECT_PORT", "4300")
    assert serve.main(["--store", str(tmp_path), "--port", "0"]) == 0
    assert seen == [ServeConfig(store=tmp_path, port=0, prefect_port=4300)]


@pytest.mark.parametrize("words", [["--port", "70000"], ["--port", "x"], ["--prot", "1"]])
def test_wrong_words_are_one_line(words, capsys):
    assert serve.main(words) == 2
    said = capsys.readouterr().err
    assert words[0] in said
    assert ("see --help" in said.lower()) == (words[0] == "--prot")
    assert len(said.splitlines()) == 1
