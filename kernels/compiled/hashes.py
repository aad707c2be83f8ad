"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "83c90f5f65810441566627b70381b1947df993a6472c4569697c66a196291eac",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "22366b001d364439e29224af75a94dd2209ef26f8381f7c100d90d9096dd56a7",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "00df4b921abd5b6a6f3d15b1cc3a2f1e0784d7ed348dff4c2a5dd8053852eb10",  # noqa: E501
    "cubins-sm_100.tar.xz": "f83da1518485bcd26e8642fba91d3bf58c86c0d4df7289fa3d42c3b67e2076db",
    "cubins-sm_120.tar.xz": "083277946865be6faae5bc4f83121209c1442f6213746fdf369b5c443d849646",
    "cubins-sm_80.tar.xz": "d4304ec2dba4307b1033972c9ab45129af823356142af8470b7d30efe5cff6b4",
    "cubins-sm_90.tar.xz": "11f97d9641dfeb9b1f0c945d682eb971bdf130fa4fbe6f0c231deeeaa124c05d",
}
