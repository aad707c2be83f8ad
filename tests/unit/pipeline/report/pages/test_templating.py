"""What renders templates: it reads and compiles each of them once."""

from __future__ import annotations

import jinja2

from pipeline.report.pages.templating import environment
from pipeline.report.texts import figure


def test_a_template_is_compiled_once_for_all_reports(monkeypatch):
    compiled = []
    compile_one = jinja2.Environment.compile

    def counted(self, source, *given, **more):
        compiled.append(source)
        return compile_one(self, source, *given, **more)

    monkeypatch.setattr(jinja2.Environment, "compile", counted)
    environment.cache_clear()
    for _ in range(2):
        environment().get_template("index.html")
    assert len(compiled) == 1


def test_pages_that_call_other_functions_have_templates_of_their_own():
    mine = environment(opening=figure)
    assert mine is environment(opening=figure)
    assert mine is not environment()
    assert mine.globals["opening"] is figure
    assert "opening" not in environment().globals
