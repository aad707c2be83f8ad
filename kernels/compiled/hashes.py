"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "1242f1dc2fac69469a0c50b28b70284d5fa19b4752b3532c56fac00e65dd6d6e",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "04eaaabcb1ee04e2f2900d89433549b8b7b372e48f38dd7d22250be760c1a0de",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "cac1c84def9d98e1d1cbbeea513fb741aebbcb00b10478da8d243816201234d3",  # noqa: E501
    "cubins-sm_100.tar.xz": "f83da1518485bcd26e8642fba91d3bf58c86c0d4df7289fa3d42c3b67e2076db",
    "cubins-sm_120.tar.xz": "083277946865be6faae5bc4f83121209c1442f6213746fdf369b5c443d849646",
    "cubins-sm_80.tar.xz": "d4304ec2dba4307b1033972c9ab45129af823356142af8470b7d30efe5cff6b4",
    "cubins-sm_90.tar.xz": "11f97d9641dfeb9b1f0c945d682eb971bdf130fa4fbe6f0c231deeeaa124c05d",
}
