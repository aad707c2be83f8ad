"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "d6f09cdb05f1ed122b4332eb833c58b24a46c729eda283786635335dbbfc2f2e",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "feedf44743b7dde4f4fe21ee2a3c7b808290a817a3aaa7500e747281b4c8d7c4",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "88aebfb91140a155ca7a00e120daae4ec4a19af3158a8f24f007c2ab11d053eb",  # noqa: E501
    "cubins-sm_100.tar.xz": "d67452db538d49528f9a906f4b0a5b354250f5b941761203708bb6f2e2994123",
    "cubins-sm_120.tar.xz": "6a66f23d1eacf25db21d70182e0bcfe9f82009f965f729218357a451470a012f",
    "cubins-sm_80.tar.xz": "3de5c7c9f9ef3e345b8df946497b67b915a98cb033a0711372466ccf90f9a38c",
    "cubins-sm_90.tar.xz": "d2892771b029a57a9d5a1e757fabee1ec0c8282c193473b182b515ccd0de6c6e",
}
