"""``--tls-ca``, ``--tls-cert``, ``--tls-key``: PEM files for an encrypted connection to a cluster.

Checked before anything else is done, without Dask.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError

_KEY_RULE = "--tls-key unless the file of --tls-cert contains the key"


@dataclass(frozen=True)
class TlsFiles:
    """Authority of a cluster, our certificate and its key, which may be in one file."""

    ca: Path
    cert: Path
    key: Path


def tls_files(config: AnalyzeConfig) -> TlsFiles | None:
    """The files that were given; None: none was.

    Raises
    ------
    UsageError
        Some without the others or without ``--scheduler``, an address that is not ``tls://``, files
        that are missing, cannot be read, or do not belong together.
    """
    given = {"--tls-ca": config.tls_ca, "--tls-cert": config.tls_cert, "--tls-key": config.tls_key}
    words = [word for word, path in given.items() if path is not None]
    if not words:
        return None
    if config.scheduler is None:
        raise UsageError(
            f"{words[0]} is for the cluster of --scheduler tls://HOST:PORT, which is not given; "
            "a cluster that the run starts makes its own certificates"
        )
    if not config.scheduler.startswith("tls://"):
        raise UsageError(
            f"--scheduler {config.scheduler}: a plain connection is refused, because {words[0]} "
            "requires TLS; give tls://HOST:PORT and start the cluster with --protocol tls"
        )
    if config.tls_ca is None or config.tls_cert is None:
        missing = " and ".join(w for w in ("--tls-ca", "--tls-cert") if given[w] is None)
        raise UsageError(f"{words[0]} needs {missing} too (and {_KEY_RULE})")
    for word, path in given.items():
        if path is not None:
            _check_readable(word, path)
    files = TlsFiles(config.tls_ca, config.tls_cert, config.tls_key or config.tls_cert)
    _check_together(files)
    return files


def _check_readable(word: str, path: Path) -> None:
    if not path.exists():
        raise UsageError(f"{word} {path}: there is no such file")
    if not path.is_file():
        raise UsageError(f"{word} {path}: not a file")
    if not os.access(path, os.R_OK):
        raise UsageError(f"{word} {path}: cannot be read; check its permissions")


def _check_together(files: TlsFiles) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(files.ca)
    except (OSError, ValueError):  # ssl.SSLError is an OSError
        raise UsageError(f"--tls-ca {files.ca}: holds no certificate in PEM form") from None
    try:
        # An empty password: without one, OpenSSL would ask for it on the terminal.
        context.load_cert_chain(files.cert, files.key, password="")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--tls-cert {files.cert} with the key in {files.key}: no certificate and unencrypted "
            f"key in PEM form that belong together ({_reason(error)}); give {_KEY_RULE}"
        ) from None


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or type(error).__name__
