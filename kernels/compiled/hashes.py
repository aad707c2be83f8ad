"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "c17a9b3f29c15e178b76e1c6460b0a3d1a8423ff893c90fd2bef26885b35ed49",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "186abac280cce5a002bf124e44cd442116d49153e55324748706147ba1d6ef98",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "7bd4c4bf4a7ca6afdc2357c95153568bcf562a9f6c161742b531d4d985bf2515",  # noqa: E501
    "cubins-sm_100.tar.xz": "f83da1518485bcd26e8642fba91d3bf58c86c0d4df7289fa3d42c3b67e2076db",
    "cubins-sm_120.tar.xz": "083277946865be6faae5bc4f83121209c1442f6213746fdf369b5c443d849646",
    "cubins-sm_80.tar.xz": "d4304ec2dba4307b1033972c9ab45129af823356142af8470b7d30efe5cff6b4",
    "cubins-sm_90.tar.xz": "11f97d9641dfeb9b1f0c945d682eb971bdf130fa4fbe6f0c231deeeaa124c05d",
}
