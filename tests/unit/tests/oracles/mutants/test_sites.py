"""What may be changed in a module, and that all else stays."""

from __future__ import annotations

import pytest

from tests.oracles.mutants.sites import Site, find_sites, is_program


def changes(text: str) -> set[tuple[str, str, str]]:
    return {(one.kind, one.before, after) for one in find_sites(text) for after in one.afters}


@pytest.mark.parametrize(
    ("text", "kind", "before", "after"),
    [
        ("a < b", "comparison", "a < b", "(a <= b)"),
        ("a < b <= c", "comparison", "a < b <= c", "(a < b < c)"),
        ("a is None", "comparison", "a is None", "(a is not None)"),
        ("a + b * c", "operation", "b * c", "(b + c)"),
        ("a or b", "and, or", "a or b", "(a and b)"),
        ("not a", "not", "not a", "(a)"),
        ("f(7)", "constant", "7", "(6)"),
        ("f(True)", "constant", "True", "False"),
        ("f(side='left')", "side", "'left'", "'right'"),
        ("np.minimum(a, b)", "function", "np.minimum(a, b)", "(np.maximum(a, b))"),
        ("f(x)", "statement", "f(x)", "pass"),
        ("a[b] = c", "statement", "a[b] = c", "pass"),
        ("a += b", "statement", "a += b", "a -= b"),
        ("if a:\n  raise b", "statement", "raise b", "pass"),
        ("if a:\n  b", "condition", "a", "(not a)"),
        ("for a in b:\n  break", "loop", "break", "continue"),
        ("def f():\n  return a, b", "return", "return (a, b)", "return (b, a)"),
        ("def f():\n  return a", "return", "return a", "return None"),
    ],
)
def test_each_kind_of_change_is_found(text, kind, before, after):
    assert (kind, before, after) in changes(text)


@pytest.mark.parametrize(
    "text",
    [
        '"""1 < 2"""',
        "a: Literal[1]",
        "def f(a: x[1]) -> x[2]:\n  'not a'",
        "@f(1, cache=True)\ndef g():\n  ...",
        "log.info('%d', 1 + n)",
        "f'{1 + n}'",
        "raise_ = f'{a and b}'",
        "I64 = types.Array(types.int64, 1, 'C', True)",
        "__all__ = [1]",
        "from a import b",
        "if TYPE_CHECKING:\n  f(1)",
    ],
)
def test_what_answers_nothing_is_not_changed(text):
    assert changes(text) == set()


def test_of_what_is_raised_only_the_statement_is_left_out():
    assert changes("raise E(f'{n}', n + 1)") == {("statement", "raise E(f'{n}', n + 1)", "pass")}


def test_what_is_compiled_returns_no_none():
    text = "def f():\n  return a"
    assert changes(f"@njit\n{text}") == changes(text) - {("return", "return a", "return None")}


def test_only_the_place_is_changed_whatever_stands_before_it():
    text = "name = 'Zürich'; ok = ('é', a <\n  b)  # a < b\n"
    (site,) = find_sites(text)
    assert site.line == 1
    assert site.put(text, site.afters[0]) == ("name = 'Zürich'; ok = ('é', (a <= b))  # a < b\n")


def test_what_python_cannot_compile_is_not_a_program():
    text = "def f():\n  return 1\n"
    site = Site(2, "return", "return 1", ("break",), len("def f():\n  "), len(text) - 1)
    assert is_program(text)
    assert not is_program(site.put(text, "break"))
