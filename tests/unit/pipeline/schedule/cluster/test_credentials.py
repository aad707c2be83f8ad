"""Credentials for clusters of others: what is missing or does not fit is reported in one line."""

import copy
import pickle

import dask
import pytest

from pipeline.errors import UsageError
from pipeline.schedule.cluster.credentials import configured, temporary
from tests.permissions import where_modes_hold

ADDRESS = "tls://10.0.0.1:8786"
SET = "DASK_DISTRIBUTED__COMM__TLS__"


@pytest.fixture(autouse=True)
def _nothing_configured():
    with dask.config.set(
        {
            "distributed.comm.require-encryption": None,
            "distributed.comm.tls.ca-file": None,
            "distributed.comm.tls.client.cert": None,
            "distributed.comm.tls.client.key": None,
        }
    ):
        yield


def refused(address=ADDRESS, **settings):
    names = {"ca": "ca-file", "cert": "client.cert", "key": "client.key"}
    given = {f"distributed.comm.tls.{names[name]}": str(v) for name, v in settings.items()}
    with dask.config.set(given), pytest.raises(UsageError) as caught:
        configured(address)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"--scheduler {address}: ")
    return str(caught.value)


@pytest.fixture
def pem(tmp_path):
    """A certificate and its key in one file."""
    made = temporary()
    path = tmp_path / "dask.pem"
    path.write_text(made.tls_client_key + made.tls_client_cert)
    return path


def test_missing_settings_are_named(pem):
    text = refused()
    assert f"set {SET}CA_FILE and {SET}CLIENT__CERT to PEM files" in text
    assert f"set {SET}CLIENT__CERT to PEM files" in refused(ca=pem)
    gone = pem.with_name("gone.pem")
    assert f"{SET}CA_FILE: {gone} is not there" in refused(ca=gone, cert=pem)
    assert f"{SET}CLIENT__KEY: {gone} is not there" in refused(ca=pem, cert=pem, key=gone)


def test_a_file_that_may_not_be_read_is_named(pem):
    pem.chmod(0)
    text = where_modes_hold(lambda: refused(ca=pem, cert=pem))
    assert f"{SET}CA_FILE: {pem} cannot be read" in text


def test_files_that_are_no_certificates_are_reported(pem, tmp_path):
    other = tmp_path / "other.pem"
    other.write_text(temporary().tls_client_key)
    text = tmp_path / "text.pem"
    text.write_text("no certificate\n")
    for settings in ({"ca": text, "cert": pem}, {"ca": pem, "cert": other}):
        assert "do not match" in refused(**settings)
    assert "do not match" in refused(ca=pem, cert=pem, key=other)


def test_one_file_for_all_is_enough(pem):
    settings = {"distributed.comm.tls.ca-file": str(pem)}
    with dask.config.set(settings | {"distributed.comm.tls.client.cert": str(pem)}):
        assert configured(ADDRESS).get_connection_args("client")["ssl_context"] is not None


def test_required_encryption_refuses_an_address_without():
    assert configured("tcp://127.0.0.1:8786").require_encryption is False
    with dask.config.set({"distributed.comm.require-encryption": True}):
        text = refused("tcp://127.0.0.1:8786")
    assert "requires encryption" in text
    assert "give tls://HOST:PORT" in text


def test_temporary_credentials_differ_and_reach_workers():
    made = temporary()
    assert made.tls_client_key != temporary().tls_client_key
    assert made.require_encryption
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied.tls_worker_key == made.tls_worker_key
        assert copied.get_listen_args("worker")["ssl_context"] is not None
    assert made.tls_client_key.splitlines()[1] not in repr(made)
