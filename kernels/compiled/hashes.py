"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
    "cpython-311-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "893cd006dca35c0af12b501b80b1b8e08df816c5c06ebb7335eb5190444ea171",  # noqa: E501
    "cpython-312-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "85ae871f2d6e2fcb0c75f61a7401ddec28a164765ef29e8846a6143f489493dd",  # noqa: E501
    "cpython-313-numba-0.68.1-llvmlite-0.50.0-linux-x86-64-v3.tar.xz": "b75ab16981248b3f8006fc8122ad48ea0cfbc4d2302936243fcbe36a26703556",  # noqa: E501
    "cubins-sm_100.tar.xz": "0e65c876df0d406952ac9e607181711007a4322bb4653b992c5a93d9b6333eec",
    "cubins-sm_120.tar.xz": "4ae3287b9b6957e5c983443de0967ca8edcfdae3fd6f1401b1c8c4c2c09b880c",
    "cubins-sm_80.tar.xz": "337ba17bd719fcbad5320f7595bcc9947d8f7000fcbbab97f260d9b20f94f4fc",
    "cubins-sm_90.tar.xz": "8dc3ce31b56907332529e66fcb9f7cf3b6daf1e4166c199d677e81982a1986a0",
}
