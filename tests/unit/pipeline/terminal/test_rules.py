"""Rules of inference in the terminal and in the documentation."""

from __future__ import annotations

import pytest

from pipeline.cli import main
from pipeline.infer.rules import RULES
from pipeline.terminal.rules import print_rules


def test_each_rule_is_printed_with_what_it_says(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["ingest", "--list-rules"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    print_rules()
    assert printed == capsys.readouterr().out
    for rule in RULES:
        weight = f" ({rule.weight} nats)" if rule.weight else ""
        assert f"  {rule.name}{weight}: {rule.says}\n" in printed
