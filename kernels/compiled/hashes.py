"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "83c90f5f65810441566627b70381b1947df993a6472c4569697c66a196291eac",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "c10e04d4c7734dfddd3b2dbdc4c542f172d6bebd23e6ca4450cc4a7553f969c5",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "cbf3b92916cd7203ad7b2aab37a3ec94635381fcdfe50b184f85ea41c7702c60",  # noqa: E501
    "cubins-sm_100.tar.xz": "f83da1518485bcd26e8642fba91d3bf58c86c0d4df7289fa3d42c3b67e2076db",
    "cubins-sm_120.tar.xz": "083277946865be6faae5bc4f83121209c1442f6213746fdf369b5c443d849646",
    "cubins-sm_80.tar.xz": "d4304ec2dba4307b1033972c9ab45129af823356142af8470b7d30efe5cff6b4",
    "cubins-sm_90.tar.xz": "11f97d9641dfeb9b1f0c945d682eb971bdf130fa4fbe6f0c231deeeaa124c05d",
}
