"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "05a4d68dbc7432acff5c754823e56128d8aadbba96a511f20502d9b037b80106",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "3f2835231964990b9571081c5159f0eb178d5f84ee6d0b4828a90c2f437919bd",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "15453c650363babef1f8bcc4f4b4c1427e57426cef3d0a8e77e13c0780d49ac0",  # noqa: E501
    "cubins-sm_100.tar.xz": "1adb91da211160e749abe2e051d8a12ad4f9be8d90079418d4803ae657c30c61",
    "cubins-sm_120.tar.xz": "fc76be5148d13e41b8a62b8fe4d7ab43b40f3348f677cb784f49fa765888cb07",
    "cubins-sm_80.tar.xz": "d0dbb92a645e60375ed33ddd1fe2099aa770662927737bf38e5a805e9d29e3d4",
    "cubins-sm_90.tar.xz": "e9d273adebac45190a191df4cb8eb5292d9ed965881a65681f2a1eef1b69bbad",
}
