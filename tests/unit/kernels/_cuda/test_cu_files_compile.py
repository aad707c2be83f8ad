"""Every .cu file compiles for each architecture we support; needs NVRTC but no GPU.

For one to PTX, and for the others by the compiler's first half, which is where errors and warnings
of the source come from; in ``make soak`` for each to machine code, which takes many times as long.
What only that half decides (assertions) is asked of it alone.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import kernels
from kernels._cuda.loader import OPTIONS, defined_by, options_for, source_of
from kernels.types import N_FARTHEST
from tests.races import kernels_in
from tests.soak import WHOLE

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
CU_FILES = sorted(Path(kernels.__file__).parent.rglob("*.cu"))
ARCHITECTURES = [("sm_" if WHOLE else "compute_") + number for number in ("75", "80", "90")]
FIRST_HALF = "-dlto"  # without code for the device, which takes nine tenths of the time


def include_options() -> list[bytes]:
    """Where CUDA's own headers lie, if their wheel is there."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (spec.submodule_search_locations or [])] if spec else []
    folders = [root / "cu13" / "include" / part for root in roots for part in ("", "cccl")]
    return [b"-I" + bytes(folder) for folder in folders if folder.is_dir()]


def compiler_log(source: str, name: str, architecture: str, given: tuple[str, ...]) -> str:
    """Errors and warnings of the compiler; empty if there are none."""
    return compiled(source, name, architecture, given)[0]


def compiled(
    source: str, name: str, architecture: str, given: tuple[str, ...]
) -> tuple[str, bytes]:
    """Errors and warnings, and the PTX that there is for a virtual architecture."""
    error, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], [])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    options = [option.encode() for option in given]
    options += [f"-arch={architecture}".encode(), *include_options()]
    nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    # NVRTC writes into these bytes. They must not be shared: an empty log has size 1, and Python
    # shares all bytes objects of one byte.
    log = bytes(size + 64)
    nvrtc.nvrtcGetProgramLog(program, log)
    ptx = b""
    if architecture.startswith("compute"):
        _, size = nvrtc.nvrtcGetPTXSize(program)
        ptx = bytes(size + 64)
        nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(program)
    return log.decode().strip(" \0\n"), ptx


@pytest.mark.soak
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("cu_file", CU_FILES, ids=lambda cu_file: cu_file.name)
def test_compiles_without_a_warning(cu_file, architecture):
    given = options_for(cu_file)
    if architecture in ("compute_75", "compute_80"):
        given = (*given, FIRST_HALF)
    assert compiler_log(source_of(cu_file), cu_file.name, architecture, given) == ""


@pytest.mark.soak
@pytest.mark.parametrize("cu_file", CU_FILES, ids=lambda cu_file: cu_file.name)
def test_the_sanitizer_knows_all_kernels(cu_file):
    source = source_of(cu_file)
    _, ptx = compiled(source, cu_file.name, "compute_90", options_for(cu_file))
    assert kernels_in(source) == set(re.findall(r"\.entry (\w+)", ptx.decode()))


@pytest.mark.parametrize("name", ["msbfs_graph_1", "msbfs_shard_1", "msbfs_eccentricities"])
def test_only_the_requested_sweep_is_compiled(name):
    cu_file = next(file for file in CU_FILES if file.name == "multi_source.cu")
    options = options_for(cu_file, name)
    log, ptx = compiled(source_of(cu_file), cu_file.name, "compute_80", options)
    assert log == ""
    kernels_there = set(re.findall(rb"\.entry (\w+)", ptx))
    assert name.encode() in kernels_there
    sweeps = {kernel for kernel in kernels_there if re.match(rb"msbfs_(graph|shard)", kernel)}
    assert sweeps == ({name.encode()} if name != "msbfs_eccentricities" else set())


@pytest.mark.parametrize("cu_file", CU_FILES, ids=lambda cu_file: cu_file.name)
def test_a_number_that_python_knows_has_no_other_home(cu_file):
    given = [option for option in options_for(cu_file) if option.startswith("-D")]
    names = {option[2:].partition("=")[0] for option in given}
    assert {"COOPERATIVE_BLOCK", "SEGMENT", "WARP"} <= names
    source = source_of(cu_file)
    assert names.isdisjoint(re.findall(r"^#define (\w+)", source, re.MULTILINE))
    own = names - {option[2:].partition("=")[0] for option in OPTIONS}
    assert all(re.search(rf"\b{name}\b", source) for name in own)


def test_another_number_is_another_module():
    """Options are part of the key by which compiled modules are kept, here and on disk."""
    module = ModuleType("numbers")
    vars(module).update(LEAST=-1, FLAG=True, n=3, NAMES=("a",))
    assert defined_by(module) == ("-DLEAST=-1",)
    cu_file = next(file for file in CU_FILES if file.name == "multi_source.cu")
    assert f"-DN_FARTHEST={N_FARTHEST}" in options_for(cu_file, "msbfs_graph_1")


def with_places(cu_file: Path) -> str:
    """The source, and of each AT_FIELD an assertion that struct Control has that field there.

    In the source itself they would exclude compilers before CUDA 13.4, which do not know offsets of
    fields at compile time.
    """
    names = [option[2:].partition("=")[0] for option in options_for(cu_file)]
    places = [name for name in names if name.startswith("AT_")]
    there = "__builtin_offsetof(Control, {field}) == 4 * {name}"
    asserted = [there.format(field=name[3:].lower(), name=name) for name in places]
    return "\n".join([source_of(cu_file), *(f"static_assert({one});" for one in asserted)])


@pytest.fixture
def offsets_known() -> None:
    """Needs NVRTC 13.4, which is what the tests are locked to: there nothing is skipped."""
    _, *version = nvrtc.nvrtcVersion()
    if tuple(version) < (13, 4):
        pytest.skip(f"NVRTC {version[0]}.{version[1]}: offsets of fields are known from 13.4 on")


@pytest.mark.parametrize("cu_file", CU_FILES, ids=lambda cu_file: cu_file.name)
def test_the_host_reads_where_the_device_writes(cu_file, offsets_known):
    options = (*options_for(cu_file), FIRST_HALF)
    assert compiler_log(with_places(cu_file), cu_file.name, "compute_80", options) == ""


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("breadth_first.cu", "CONTROL=16"),
        ("breadth_first.cu", "AT_DEPTH=4"),
        ("multi_source.cu", "AT_IS_ENDED=3"),
        ("shortest_paths.cu", "AT_FARTHEST=9"),
    ],
)
def test_what_the_host_reads_elsewhere_does_not_compile(name, wrong, offsets_known):
    cu_file = next(file for file in CU_FILES if file.name == name)
    given = (*options_for(cu_file), f"-U{wrong.partition('=')[0]}", f"-D{wrong}")
    log = compiler_log(with_places(cu_file), name, "compute_80", given)
    assert "static assertion failed" in log


def test_an_error_is_named_with_its_file_and_line():
    cu_file = CU_FILES[0]
    broken = source_of(cu_file) + "\nbroken"
    log = compiler_log(broken, cu_file.name, "sm_80", options_for(cu_file))
    n_lines = len(cu_file.read_text().splitlines())
    assert f"{cu_file.name}({n_lines + 2}): error" in log


def test_every_algorithm_with_a_launcher_has_its_device_code():
    root = Path(kernels.__file__).parent
    launchers = {path.with_name(f"{path.parent.name}.cu") for path in root.glob("**/gpu.py")}
    rooms = {path / f"{path.parent.name}.cu" for path in root.glob("*/gpu")}
    assert set(CU_FILES) == launchers | rooms
