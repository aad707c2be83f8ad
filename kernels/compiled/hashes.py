"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "88393022e5ccc5ebd6ffd163636d6b5c61958fc1033b80949ba110914cce2a42",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "fdff456c347c07cf7b6b9b9ed804e28b1dd98d09143260e2261d7b8a066e0178",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "cfc25940b0230f911464887c4fa67b3a4269b024f4a6a3749396ffdef3fd1b56",  # noqa: E501
    "cubins-sm_100.tar.xz": "cb3336879e7162e4a8b7372fbd9cf8eef22bf51127bb1393a2807c111d4402cc",
    "cubins-sm_120.tar.xz": "dd024b5af9e7783671e729b56cf6b9b77c8cb3f668a01e8f22fdd0a6903221ab",
    "cubins-sm_80.tar.xz": "5b169b2c5efbe5a7e6c37200e46ba0ec3de64a44629c6a5206801b57c76cca67",
    "cubins-sm_90.tar.xz": "e8e55bfa649ec76e000071b1fcdadc156d12bbb404848ffa35af68f23487934f",
}
