"""How a command ends that fails in a way of its own."""

import pytest

from pipeline import cli


def test_data_that_end_too_early_are_no_end_of_the_terminal(monkeypatch):
    """Typer takes every EOFError for the end of its input, and would end without a word, with 0."""

    def fail(*_args, **_options):
        raise EOFError("Ran out of input")

    monkeypatch.setattr(cli, "_run_command", lambda arguments: typer_command(fail))
    with pytest.raises(EOFError, match="Ran out of input"):
        cli.main([])


def typer_command(function):
    import typer

    app = typer.Typer()
    app.command()(lambda: function())
    return app([], standalone_mode=False)
