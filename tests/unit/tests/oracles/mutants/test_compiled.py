"""What numba keeps of a module is found again only if nothing that it compiles in has changed."""

from __future__ import annotations

import pytest

from tests.oracles.mutants.compiled import digest

CALLER = "from kernels.callee import step\nfrom kernels.limits import MOST\n"
FILES = {
    "caller": f"{CALLER}from kernels.plain import said\nfrom numba import njit\n",
    "callee": "from kernels.below import inner\nfrom numba import njit\n",
    "below": "from numba import njit\n",
    "limits": "MOST = 3\n",
    "plain": "said = 3\n",
    "stranger": "from numba import njit\n",
}


@pytest.mark.parametrize(
    ("changed", "is_kept"),
    [
        ("caller", False),
        ("callee", False),
        ("below", False),
        ("limits", False),
        ("plain", True),
        ("stranger", True),
    ],
)
def test_a_module_is_filed_by_what_it_compiles_in(tmp_path, changed, is_kept):
    (tmp_path / "kernels").mkdir()
    for name, text in FILES.items():
        (tmp_path / f"kernels/{name}.py").write_text(text)
    caller, other = (tmp_path / f"kernels/{name}.py" for name in ("caller", changed))
    before = digest(caller, tmp_path)
    other.write_text(f"{other.read_text()}# changed\n")
    assert (digest(caller, tmp_path) == before) == is_kept
