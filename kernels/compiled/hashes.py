"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "af389a52649b2d7913dab3c06451c8c9a87754ef9d35b243aef14804a8f83812",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "8a40cf7d910dedc439f99579a693bba9702112fa6de5cc8cede813d91909ab31",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "a6e12c7095ab2b4703ba05e97e9b3e7e3088d69b7fba3f8a00e4c67abf14cddf",  # noqa: E501
    "cubins-sm_100.tar.xz": "f83da1518485bcd26e8642fba91d3bf58c86c0d4df7289fa3d42c3b67e2076db",
    "cubins-sm_120.tar.xz": "083277946865be6faae5bc4f83121209c1442f6213746fdf369b5c443d849646",
    "cubins-sm_80.tar.xz": "d4304ec2dba4307b1033972c9ab45129af823356142af8470b7d30efe5cff6b4",
    "cubins-sm_90.tar.xz": "11f97d9641dfeb9b1f0c945d682eb971bdf130fa4fbe6f0c231deeeaa124c05d",
}
