"""Who may connect to a cluster: a worker runs whatever it is sent, so access must be restricted.

A cluster of our own gets a key and its own certificate, made for it and kept in memory: each
end of a connection must show that certificate, so that another user of this machine can neither
join nor listen. For a cluster that others run, the credentials are the files that were given, else
those of Dask's configuration.
"""

from __future__ import annotations

import datetime
import os
import ssl
from pathlib import Path
from typing import Any

import dask
from distributed.security import Security

from pipeline.errors import UsageError
from pipeline.schedule.cluster.tls_files import TlsFiles

VALID = datetime.timedelta(days=365)  # longer than any run
CLOCK = datetime.timedelta(hours=1)  # a clock that is set back in the meantime does no harm
_SET = "DASK_DISTRIBUTED__COMM__TLS__"
# What a client needs, by its name in Dask's configuration; the key may lie in the certificate's.
_NEEDED = (("ca-file", "CA_FILE"), ("client.cert", "CLIENT__CERT"))
_KEY = ("client.key", "CLIENT__KEY")
_PARTS = ("cert", "key")


def temporary() -> Security:
    """Credentials for one cluster of ours, in memory only.

    As ``Security.temporary`` of distributed, with a key on an elliptic curve: an RSA key takes 0.1
    to 1 s to make.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hopscope")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    shown = certificate.public_bytes(serialization.Encoding.PEM).decode()
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    roles = ("client", "scheduler", "worker")
    return Security(
        require_encryption=True,
        tls_ca_file=shown,
        tls_ciphers=None,  # settings of a user's other clusters may not fit
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        tls_max_version=None,
        **{f"tls_{role}_cert": shown for role in roles},
        **{f"tls_{role}_key": secret for role in roles},
    )


def from_files(files: TlsFiles) -> Security:
    """Credentials for ``--scheduler`` from files that were given, and no others."""
    return Security(
        require_encryption=True,
        tls_ca_file=str(files.ca),
        tls_ciphers=None,  # settings of a user's other clusters may not fit
        tls_min_version=ssl.TLSVersion.TLSv1_2,
        tls_max_version=None,
        tls_client_cert=str(files.cert),
        tls_client_key=str(files.key),
        **{f"tls_{role}_{part}": None for role in ("scheduler", "worker") for part in _PARTS},
    )


def configured(address: str) -> Security:
    """Credentials for ``--scheduler``, from Dask's configuration (its files, ``DASK_...``).

    Raises
    ------
    UsageError
        ``tls://`` without credentials or with some that cannot be read, or another address where
        the configuration requires encryption.
    """
    try:
        security = Security()
    except ValueError as error:
        raise UsageError(f"--scheduler {address}: {error}") from None
    if not address.startswith("tls://"):
        if security.require_encryption:
            raise UsageError(
                f"--scheduler {address}: Dask's configuration requires encryption "
                "(distributed.comm.require-encryption); give tls://HOST:PORT"
            )
        return security
    missing = [name for key, name in _NEEDED if not _setting(key)]
    if missing:
        names = " and ".join(_SET + name for name in missing)
        raise UsageError(
            f"--scheduler {address}: give --tls-ca and --tls-cert, or set {names} to PEM files "
            f"(and --tls-key or {_SET}{_KEY[1]}, unless the certificate's file contains the key)"
        )
    for key, name in (*_NEEDED, _KEY):
        value = _setting(key)
        if value and "\n" not in value and not os.access(value, os.R_OK):
            why = "cannot be read" if Path(value).exists() else "is not there"
            raise UsageError(f"--scheduler {address}: {_SET}{name}: {value} {why}")
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UsageError(
            f"--scheduler {address}: the PEM files that {_SET}... name do not match ({error})"
        ) from None
    return security


def _setting(key: str) -> Any:
    return dask.config.get(f"distributed.comm.tls.{key}", None)
