"""Builds what is uploaded to a package index: ``python3 -m deploy.distribution OUT [ADDRESS]``.

An index shows README.md apart from the repository, where links to files are broken. So the
packages are built of a copy of the last commit whose README has absolute links, to the files of
this version at the public address of the repository: ``Repository`` of ``[project.urls]`` in
pyproject.toml, or ADDRESS while there is none. Without an address nothing is built.

There is a wheel for each Python whose compiled code the commit has, and one for all others
without any; ``deploy.trial`` tries them. Beside them lie CITATION.cff and a Containerfile that
makes an image of these wheels and the packages in cpu.txt: ``podman build -t hopscope dist``.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE = "```"
_URLS = '\n[project.urls]\nRepository = "{}"\n'
_BUILD = """
import sys
from setuptools import build_meta
out, *tags = sys.argv[1:]  # which building changes
if not tags:
    build_meta.build_sdist(out)
build_meta.build_wheel(out, {"--build-option": tags})
"""
_COMPILED = re.compile(r"cpython-(3)(\d+)-.*-linux-x86-64-v3\.tar\.xz")  # of one Python
PLATFORM = "manylinux_2_17_x86_64"  # numba's own wheels ask for more
LOCK = "locks/cpu.txt"
# How the Containerfile of the repository becomes one of wheels: each is there once.
_OF_WHEELS = {
    f"COPY {LOCK} ": "COPY cpu.txt ",
    r"(?:COPY (?!cpu|locks).* /src.*\n)+": "COPY *.whl /src/\n",
    "--no-build-isolation /src": "--no-index --find-links /src {name}=={version}",
}


class DistributionError(Exception):
    """Nothing can be built; says why."""


def with_absolute_links(text: str, address: str, version: str, files: Iterable[str]) -> str:
    """Markdown whose links to files of the repository are absolute.

    Parameters
    ----------
    text : str
        Of a page at the root of the repository; blocks of code are left as they are.
    address : str
        Of the repository. A file is at ``address/blob/vVERSION/file``, a picture at
        ``address/raw/...``, as on GitHub and GitLab.
    version : str
        Its tag is this after a v.
    files : iterable of str
        Of the repository, from its root.

    Raises
    ------
    DistributionError
        If a link leads to none of the files.
    """
    known = set(files)

    def absolute(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        path, sign, place = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return link[0]
        if path not in known:
            raise DistributionError(f"README.md: {target} is not a file of the repository")
        kind = "raw" if mark else "blob"
        return f"{mark}[{words}]({address}/{kind}/v{version}/{path}{sign}{place})"

    lines, in_code = [], False
    for line in text.splitlines(keepends=True):
        in_code ^= line.startswith(_FENCE)
        lines.append(line if in_code else _LINK.sub(absolute, line))
    return "".join(lines)


def of_wheels(containerfile: str, name: str, version: str) -> str:
    """The Containerfile of the repository as one that installs wheels that lie beside it.

    Raises
    ------
    DistributionError
        If it is not written as this expects.
    """
    text = containerfile
    for pattern, put in _OF_WHEELS.items():
        text, n = re.subn(pattern, put.format(name=name, version=version), text)
        if n != 1:
            raise DistributionError(f"Containerfile: {pattern} is there {n} times, not once")
    return text


def version_of(copy: Path) -> str:
    """The version, which a module alone holds; nothing is imported.

    Raises
    ------
    DistributionError
        If it does not.
    """
    settings = tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, name = settings["tool"]["setuptools"]["dynamic"]["version"]["attr"].rpartition(".")
    path = copy / module / "__init__.py"
    found = re.search(rf'^{name} = "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise DistributionError(f"{path}: no {name}")
    return found[1]


def build(root: Path, out: Path, address: str | None = None) -> list[Path]:
    """Build the source distribution and the wheels of the last commit.

    Parameters
    ----------
    root : Path
        A clone.
    out : Path
        Folder for the files; made where it is missing.
    address : str or None
        Instead of the one in pyproject.toml.

    Returns
    -------
    list of Path
        The files: of packages first.

    Raises
    ------
    DistributionError
        If the address is missing or no https URL, or a link of the README is broken.
    """
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hopscope-dist-") as made:
        copy = Path(made)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
            files = [member.name for member in tar.getmembers() if member.isfile()]
            tar.extractall(copy, filter="data")
        settings = copy / "pyproject.toml"
        project = tomllib.loads(settings.read_text(encoding="utf-8"))["project"]
        written = (project.get("urls") or {}).get("Repository")
        to = _checked(address or written).rstrip("/")
        if not written:
            with settings.open("a", encoding="utf-8") as stream:
                stream.write(_URLS.format(to))
        version = version_of(copy)
        readme = copy / project["readme"]
        text = readme.read_text(encoding="utf-8")
        readme.write_text(with_absolute_links(text, to, version, files), encoding="utf-8")
        container = (copy / "Containerfile").read_text(encoding="utf-8")
        text = of_wheels(container, project["name"], version)
        (out / "Containerfile").write_text(text, encoding="utf-8")
        for name in ("CITATION.cff", LOCK):
            shutil.copy(copy / name, out)
        archives = copy / "kernels" / "compiled" / "archives"
        apart = [path for path in archives.glob("*") if _COMPILED.fullmatch(path.name)]
        contents = {path: path.read_bytes() for path in apart}
        for path in apart:
            path.unlink()
        _run_setuptools(copy, out)
        for path, content in contents.items():
            python = "cp" + "".join(_COMPILED.fullmatch(path.name).groups())  # type: ignore[union-attr]
            path.write_bytes(content)
            _run_setuptools(copy, out, "--python-tag", python, "--plat-name", PLATFORM)
            path.unlink()
    beside = [out / name for name in ("CITATION.cff", "Containerfile", Path(LOCK).name)]
    return [*sorted(out.glob(f"{project['name']}-{version}[.-]*")), *beside]


def _run_setuptools(copy: Path, out: Path, *tags: str) -> None:
    """Without tags the source distribution too; setuptools keeps nothing from an earlier wheel."""
    for old in (*copy.glob("*.egg-info"), copy / "build"):
        shutil.rmtree(old, ignore_errors=True)
    words = [sys.executable, "-c", _BUILD, str(out.resolve()), *tags]
    done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DistributionError(f"setuptools ended with:\n{done.stderr[-2000:]}")


def _checked(address: str | None) -> str:
    if not address:
        raise DistributionError(
            "the project has no public address, so links of its README would be broken: give "
            "make dist ADDRESS=https://..., or write Repository into [project.urls] of "
            "pyproject.toml"
        )
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", address):
        raise DistributionError(f"{address}: give the https URL of the repository")
    return address


if __name__ == "__main__":
    try:
        paths = build(ROOT, Path(sys.argv[1]), *sys.argv[2:3])
    except DistributionError as error:
        sys.exit(str(error))
    sys.stdout.write("".join(f"{path}\n" for path in paths))
