"""What serve says before it starts anything."""

from __future__ import annotations

from flows import serve


def test_installed_package_says_in_one_line_that_it_needs_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(serve, "ROOT", tmp_path)
    assert serve.main([]) == 2
    said = capsys.readouterr().err
    assert "checkout" in said
    assert "prefect.yaml" in said
    assert len(said.splitlines()) == 1
