import ast
import os
import subprocess
import sys
import time
from pathlib import Path

from pipeline.processes import compiled

REPOSITORY = Path(compiled.__file__).resolve().parents[2]


def test_numba_is_pointed_at_a_folder_of_these_sources(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    code = "import pipeline, numba; print(numba.config.CACHE_DIR)"
    command = [sys.executable, "-c", code]
    answer = subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    folder = Path(answer.stdout.strip())
    assert folder.parent == tmp_path / "hopscope"
    assert folder.is_dir()


def test_a_change_in_any_compiled_source_is_another_folder(tmp_path, monkeypatch):
    for name in ("kernels/a.py", "pipeline/b.py", "pipeline/plain.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("from numba import njit\n" if "plain" not in name else "\n")
    monkeypatch.setattr(compiled, "_ROOT", tmp_path)
    before = compiled._digest()
    (tmp_path / "pipeline/plain.py").write_text("x = 1\n")
    assert compiled._digest() == before
    (tmp_path / "kernels/a.py").write_text("from numba import njit  # changed\n")
    assert compiled._digest() != before


def test_a_change_of_a_constant_that_is_compiled_in_is_another_folder(tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    for name, text in {
        "a": "from numba import njit\nfrom kernels.few import (\n    Few,\n    MANY,\n)\n",
        "few": "from kernels.more import MOST\nMANY = MOST\n",
        "more": "MOST = 1\n",
        "names": "from kernels.a import Few\nTEN = 10\n",
    }.items():
        (tmp_path / "kernels" / f"{name}.py").write_text(text)
    monkeypatch.setattr(compiled, "_ROOT", tmp_path)
    assert sorted(path.stem for path in compiled._sources()) == ["a", "few", "more"]


def test_a_constant_of_a_package_is_compiled_in_like_that_of_a_module(tmp_path, monkeypatch):
    room = tmp_path / "kernels" / "room"
    room.mkdir(parents=True)
    (tmp_path / "kernels" / "a.py").write_text(
        "from numba import njit\nfrom kernels.room import MANY"
    )
    (room / "__init__.py").write_text("from kernels.room.few import MANY\n")
    (room / "few.py").write_text("MANY = 1\n")
    (room / "other.py").write_text("MANY = 2\n")
    monkeypatch.setattr(compiled, "_ROOT", tmp_path)
    counted = sorted(str(path.relative_to(room.parent)) for path in compiled._sources())
    assert counted == ["a.py", "room/__init__.py", "room/few.py"]


def imports_of(tree):
    """Name -> module and name there, of what a source imports from the project."""
    return {
        name.asname or name.name: (each.module, name.name)
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom) and each.module
        for name in each.names
        if each.module.split(".")[0] in compiled._PACKAGES
    }


def names_compiled_in(tree):
    """Names in compiled functions, and in what the module assigns to those names."""
    assigned = {
        target.id: each.value
        for each in tree.body
        if isinstance(each, ast.Assign)
        for part in each.targets
        for target in ast.walk(part)
        if isinstance(target, ast.Name)
    }
    left = [
        each  # with the function around it, whose names it may use
        for each in tree.body
        if any(
            "jit" in ast.unparse(decorator)
            for inner in ast.walk(each)
            if isinstance(inner, ast.FunctionDef)
            for decorator in inner.decorator_list
        )
    ]
    found = set()
    while left:
        names = [each for each in ast.walk(left.pop()) if isinstance(each, ast.Name)]
        local = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        here = {each.id for each in names} - local - found
        found |= here
        left += [assigned[name] for name in here if name in assigned]
    return found


def test_all_that_compiled_functions_use_is_from_a_source_that_counts():
    sources, n_names = compiled._sources(), 0
    for path, text in sources.items():
        if b"njit" not in text:
            continue
        tree = ast.parse(text)
        imported = imports_of(tree)
        for module, name in (imported[each] for each in names_compiled_in(tree) & set(imported)):
            # The name may be that of a module.
            used = [compiled._file_of(f"{module}.{name}"), compiled._file_of(module)]
            assert any(each in sources for each in used), f"{path}: {name} of {module}"
            n_names += 1
    assert n_names > 100


def test_thresholds_of_steps_are_compiled_in():
    light = {path.stem for path, text in compiled._sources().items() if b"numba" not in text}
    assert {"thresholds", "questions", "strategy", "types"} <= light


def test_a_folder_given_by_the_user_stays(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/given")
    assert compiled.use_compile_cache() is None
    assert os.environ["NUMBA_CACHE_DIR"] == "/given"


def test_folders_of_other_sources_are_removed_when_long_unused(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old, recent = tmp_path / "hopscope" / "numba-old", tmp_path / "hopscope" / "numba-recent"
    for folder in (old, recent):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 30 * 86400,) * 2)
    current = compiled.use_compile_cache()
    assert sorted(path.name for path in (tmp_path / "hopscope").iterdir()) == sorted(
        [current.name, "numba-recent"]
    )


def test_numba_names_its_folders_so():
    from numba.core.caching import _CacheLocator  # after pipeline, which says where they are

    source = REPOSITORY / "pipeline" / "ingest" / "snap.py"
    named = _CacheLocator.get_suitable_cache_subpath(str(source))
    assert compiled._cached(source.parent) == named


def test_what_was_compiled_of_another_package_is_not_this_one(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not compiled.has_compiled()
    # What a copy of these sources in another place has compiled is of no use here.
    other = tmp_path / compiled._cached(Path("/elsewhere/pipeline/ingest/atlas"))
    other.mkdir()
    (other / "scan.scan-9.py311.nbi").touch()
    assert not compiled.has_compiled()
    ingest = REPOSITORY / "pipeline" / "ingest"
    for room, name in ((ingest / "warts", "decode.decode-200"), (ingest, "snap.parse-9")):
        (tmp_path / compiled._cached(room)).mkdir()
        (tmp_path / compiled._cached(room) / f"{name}.py311.nbi").touch()
    known = ("", "pipeline.ingest.warts", "pipeline.ingest.snap")
    others = ("pipeline.ingest.atlas", "pipeline.ingest.icmp", "pipeline.infer.traces")
    assert [name for name in (*known, *others) if compiled.has_compiled(name)] == list(known)
