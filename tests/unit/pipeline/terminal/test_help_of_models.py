"""``generate MODEL --help`` has what the model takes, and nothing else."""

from __future__ import annotations

import re

import pytest

from pipeline.cli import main
from pipeline.config.generate import options_of_model
from pipeline.generate import MODELS
from pipeline.terminal.help_of_models import HelpOfModels


def help_of(capsys, *words: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["generate", *words])
    assert stopped.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("word", ["--help", "-h"])
def test_a_model_has_its_own_options(model, word, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = help_of(capsys, model, word)
    shown = set(re.findall(r"^  --([a-z-]+)", text, re.MULTILINE))
    taken = {name.replace("_", "-") for name in options_of_model(model)}
    assert shown == (taken | {"internet"} if model == "ba" else taken)
    assert not re.search(r"\([a-z, -]*\b(ba|rmat|grid|top-down)\b", text)  # whose option it is
    assert f"Example: hopscope generate {model} --routers" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_ba_as_an_internet_has_the_options_of_internet(capsys):
    ba, internet = help_of(capsys, "ba", "--help"), help_of(capsys, "ba", "--internet", "--help")
    assert "--min-routers" in internet
    assert "--internet" in internet
    assert "--min-routers" not in ba


def test_without_a_model_every_option_is_there(capsys):
    assert HelpOfModels is not None
    text = help_of(capsys, "--help")
    for flag in ("--cut", "--min-degree", "--max-ingresses"):
        assert flag in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rmat", "--routers", "2000000000"], "2,000,000,000 routers with 2 links each are more"),
        (["degrees", "--routers", "2000000000"], "may have more than 2,147,483,647 links"),
        (["grid", "--routers", "99999999999"], "--routers takes a whole number from 1 to"),
    ],
)
def test_impossible_sizes_are_refused_by_one_line(words, said, capsys, tmp_path):
    with pytest.raises(SystemExit) as stopped:
        main(["generate", *words, "--out", str(tmp_path / "a.brite")])
    assert stopped.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert said in line
