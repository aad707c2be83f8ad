"""What ``make try-newest`` installs and says is newer."""

import pytest

from tests.newest import locked, newer, requirements, unbounded


@pytest.mark.parametrize(
    ("requirement", "free"),
    [
        ("numpy>=2.2", "numpy>=2.2"),
        ("numba>=0.68.1,<0.69", "numba>=0.68.1"),
        ("dask==2026.7.1", "dask"),
        ("fastapi<0.151", "fastapi"),
        ("prefect>=3.8.8,<4; python_version >= '3.11'", "prefect>=3.8.8; python_version >= '3.11'"),
        ("moto[s3]>=5.1,!=5.3", "moto[s3]>=5.1"),
        ("cuda-toolkit[nvrtc,cudart,cccl]>=13,<14", "cuda-toolkit[nvrtc,cudart,cccl]>=13"),
        ("dask-cuda==26.10.*", "dask-cuda"),
        ("pluggy~=1.5", "pluggy"),
    ],
)
def test_pins_and_upper_bounds_go(requirement, free):
    assert unbounded(requirement) == free


def test_what_the_project_needs_for_tests_is_named_once_and_without_itself():
    names = [one.partition(">")[0] for one in requirements()]
    assert {"numpy", "dask", "prefect", "pytest", "s3fs", "cuda-bindings"} <= set(names)
    assert not any(name.startswith("hopscope") for name in names)
    wanted = [one.partition(";")[0] for one in requirements()]
    assert not any("<" in one or "==" in one for one in wanted)


def test_packages_that_differ_from_the_lock_are_named():
    known = locked("dask==2026.7.1\n# via x\nmoto[s3]==5.1.0 ; python_version > '3'\nzict==3.0.0\n")
    assert known == {"dask": ("2026.7.1",), "moto": ("5.1.0",), "zict": ("3.0.0",)}
    installed = ["Dask==2026.9.0", "moto==5.1.0", "other==1", "-e git+https://a.example#egg=b"]
    assert newer(installed, known) == ["Dask: 2026.7.1 -> 2026.9.0"]


def test_a_lock_may_have_a_version_for_each_python():
    lock = "numpy==2.4.6 ; python_version < '3.12'\nnumpy==2.5.5 ; python_version >= '3.12'\n"
    known = locked(lock)
    assert newer(["numpy==2.4.6"], known) == []
    assert newer(["numpy==2.6.0"], known) == ["numpy: 2.4.6, 2.5.5 -> 2.6.0"]
