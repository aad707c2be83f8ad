"""Machine code for GPUs that came along is loaded where it fits; all else is compiled."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import kernels
from kernels._cuda import cubins, loader
from kernels._cuda.cubins import FILE, archive_name, fitting, folder_name
from kernels._cuda.loader import options_for, source_of, variants
from kernels.compiled import shipped

CU_FILES = sorted(Path(kernels.__file__).parent.rglob("*.cu"))
SEARCH = next(file for file in CU_FILES if file.name == "breadth_first.cu")


@pytest.mark.parametrize(
    ("capability", "architecture"),
    [
        *[(80, 80), (86, 80), (89, 80), (90, 90), (100, 100), (103, 100), (120, 120), (121, 120)],
        *[(75, None), (70, None), (87, None), (101, None), (110, None), (130, None)],
    ],
)
def test_a_cubin_runs_on_its_major_capability_from_its_minor_one_on(capability, architecture):
    assert fitting(capability) == architecture


class FakeModule:
    """Keeps what CuPy's RawModule is given; one whose file begins with x does not load."""

    def __init__(self, **given):
        self.given = given

    def compile(self):
        path = self.given.get("path")
        if path and Path(path).read_bytes().startswith(b"x"):
            raise RuntimeError("CUDA_ERROR_INVALID_IMAGE")


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Loads a file on a pretended GPU; returns what CuPy was given."""
    error = type("CompileException", (Exception,), {})
    cupy = SimpleNamespace(
        RawModule=FakeModule,
        cuda=SimpleNamespace(
            Device=lambda device_id: SimpleNamespace(compute_capability="86"),
            compiler=SimpleNamespace(CompileException=error),
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(cubins, "base", lambda name: tmp_path / name)

    def load(cu_file=SEARCH):
        options = options_for(cu_file, "another")
        return loader._module.__wrapped__(cu_file, 0, True, options).given

    return load


def came_along(folder: Path, content: bytes, options: tuple[str, ...]) -> Path:
    path = folder / "cubins-sm_80" / folder_name(source_of(SEARCH), options) / FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_what_came_along_is_loaded(loaded, tmp_path):
    path = came_along(tmp_path, b"\x7fELF", options_for(SEARCH, "another"))
    assert loaded() == {"path": str(path), "enable_cooperative_groups": True}


def test_other_options_are_compiled(loaded, tmp_path):
    came_along(tmp_path, b"\x7fELF", (*options_for(SEARCH, "another"), "-DMORE=1"))
    given = loaded()
    assert "path" not in given
    assert given["code"] == source_of(SEARCH)
    assert given["options"] == options_for(SEARCH, "another")


def test_what_the_driver_does_not_take_is_compiled_and_that_is_said(loaded, tmp_path, caplog):
    came_along(tmp_path, b"x", options_for(SEARCH, "another"))
    with caplog.at_level(logging.WARNING):
        assert loaded()["code"] == source_of(SEARCH)
    assert "breadth_first.cu is compiled: what came along cannot be loaded" in caplog.text


def test_every_kernel_that_is_compiled_apart_has_its_variant():
    file = next(file for file in CU_FILES if file.name == "multi_source.cu")
    all_of_them = variants(file)
    assert len(set(all_of_them)) == len(all_of_them) > 3
    for name in re.findall(r"WITH_(msbfs\w+)", source_of(file)):
        assert options_for(file, name) in all_of_them
    assert options_for(file, "msbfs_eccentricities") in all_of_them


def test_the_release_has_a_cubin_for_each_file_that_is_as_it_was(tmp_path, monkeypatch):
    """Not so for what changed since: that is compiled, and comes along with the next release."""
    names = [name for name in shipped.SHA256 if name.startswith("cubins-")]
    assert sorted(names) == sorted(f"{archive_name(one)}.tar.xz" for one in cubins.ARCHITECTURES)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    there = 0
    for file in CU_FILES:
        for options in variants(file):
            path = cubins.cubin_for(source_of(file), options, 90)
            if path is not None:
                assert path.read_bytes()[:4] == b"\x7fELF"
                there += 1
    assert there > 0


def test_a_cubin_is_made_without_a_gpu():
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
    from deploy.cubins import CubinError, cubin

    code = cubin('extern "C" __global__ void f() {}', "f.cu", (), 80)
    assert code[:4] == b"\x7fELF"
    with pytest.raises(CubinError, match=r"f.cu for sm_80: f.cu\(1\): error"):
        cubin("broken", "f.cu", (), 80)
