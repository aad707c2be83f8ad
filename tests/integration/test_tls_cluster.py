"""A scheduler and a worker with TLS: who has a certificate of its authority may measure there."""

from __future__ import annotations

import contextlib
import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pipeline.schedule.run import measure
from tests.integration.measured import config_for, expected, make_snapshot, measured
from tests.integration.test_two_workers import dask, wait_for
from tests.real_data import REPOSITORY

DAY = datetime.timedelta(days=1)
COMMAND_S = 300

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def name_of(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Signs certificates; writes them to a folder as ``<name>.pem`` and ``<name>.key``."""

    def __init__(self, folder: Path, name: str):
        self._folder, self._name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.pem = self._write(name, self._key, x509.BasicConstraints(True, None))[0]

    def sign(self, name: str) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        return self._write(name, key, x509.BasicConstraints(False, None))

    def _write(self, name, key, constraints):
        now = datetime.datetime.now(datetime.UTC)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name_of(name))
            .issuer_name(name_of(self._name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(constraints, critical=True)
            .add_extension(identifier, critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .sign(self._key, hashes.SHA256())
        )
        paths = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paths


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Address and authority of a running cluster of one worker."""
    folder = tmp_path_factory.mktemp("cluster")
    authority = Authority(folder, "authority")
    common = ("--host", "127.0.0.1", "--protocol", "tls", "--tls-ca-file", str(authority.pem))

    def options(role):
        certificate, key = authority.sign(role)
        return (*common, "--tls-cert", str(certificate), "--tls-key", str(key))

    with contextlib.ExitStack() as stack:
        words = ("scheduler", *options("scheduler"), "--port", "0", "--no-dashboard")
        _, log = stack.enter_context(dask(*words, cwd=folder))
        address = wait_for(log, r"Scheduler at:\s+(tls://127\.0\.0\.1:\d+)")[1]
        words = ("worker", address, *options("worker"), "--nthreads", "1", "--no-dashboard")
        _, log = stack.enter_context(dask(*words, "--local-directory", str(folder), cwd=folder))
        wait_for(log, r"Registered to:")
        yield address, authority


def files_of(authority, name="client"):
    certificate, key = authority.sign(name)
    return {"tls_ca": authority.pem, "tls_cert": certificate, "tls_key": key}


def test_a_run_with_certificates_of_the_authority_measures_there(snapshot, cluster, tmp_path):
    address, authority = cluster
    config = config_for(snapshot, tmp_path, scheduler=address, **files_of(authority))
    measurement = measure(snapshot, config)
    assert measurement.failed == {}
    assert measured(snapshot, measurement) == expected(snapshot)
    assert measurement.cluster["scheduler"] == address


def said_by(snapshot, tmp_path, address, files):
    """What a command says that must be refused."""
    words = [f"--{name.replace('_', '-')}={path}" for name, path in files.items()]
    store = snapshot.path.parents[1]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pipeline.cli", "analyze", "--store", str(store)),
            *("--out", str(tmp_path / "out"), "--scheduler", address, *words),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_certificates_of_another_authority_are_refused(snapshot, cluster, tmp_path):
    address, authority = cluster
    other = files_of(Authority(tmp_path, "other"))
    refused = "no Dask scheduler that takes these certificates answers there"
    assert refused in said_by(snapshot, tmp_path, address, other)
    # It trusts the cluster, and is not trusted.
    files = other | {"tls_ca": authority.pem}
    assert refused in said_by(snapshot, tmp_path, address, files)


def test_a_plain_connection_is_refused_by_both_sides(snapshot, cluster, tmp_path):
    address, authority = cluster
    plain = address.replace("tls://", "tcp://")
    said = said_by(snapshot, tmp_path, plain, files_of(authority))
    assert "a plain connection is refused" in said
    assert "give tls://HOST:PORT" in said
    assert f"--scheduler {plain}: no Dask scheduler" in said_by(snapshot, tmp_path, plain, {})


def test_a_missing_file_is_named_before_anything_is_done(snapshot, cluster, tmp_path):
    address, authority = cluster
    files = files_of(authority) | {"tls_key": tmp_path / "gone.key"}
    said = said_by(snapshot, tmp_path, address, files)
    assert said == f"hopscope: --tls-key {tmp_path / 'gone.key'}: there is no such file"
