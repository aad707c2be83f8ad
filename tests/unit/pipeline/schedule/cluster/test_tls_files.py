"""Files for TLS are checked before a run begins; wrong ones are named, plain addresses refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.schedule.cluster.credentials import from_files, temporary
from pipeline.schedule.cluster.tls_files import TlsFiles, tls_files
from tests.permissions import where_modes_hold

ADDRESS = "tls://10.0.0.1:8786"


def config(scheduler=ADDRESS, **files):
    given = {f"tls_{name}": path for name, path in files.items()}
    return AnalyzeConfig(Path("store"), Path("out"), scheduler=scheduler, **given)


def refused(*given, **files):
    with pytest.raises(UsageError) as caught:
        tls_files(config(*given, **files))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def pem(tmp_path):
    """Files of one certificate: ``cert``, its ``key``, and ``both``."""
    made = temporary()
    texts = {"cert": made.tls_client_cert, "key": made.tls_client_key}
    texts["both"] = texts["cert"] + texts["key"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def test_without_files_nothing_is_checked():
    assert tls_files(config()) is None
    assert tls_files(config("tcp://10.0.0.1:8786")) is None


def test_the_key_may_be_in_the_file_of_the_certificate(pem):
    ca, both = pem["cert"], pem["both"]
    assert tls_files(config(ca=ca, cert=both)) == TlsFiles(ca, both, both)
    apart = tls_files(config(ca=ca, cert=pem["cert"], key=pem["key"]))
    assert apart == TlsFiles(ca, pem["cert"], pem["key"])
    security = from_files(apart)
    assert security.require_encryption
    assert security.get_connection_args("client")["ssl_context"] is not None


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "ucx://10.0.0.1:1"])
@pytest.mark.parametrize("name", ["ca", "cert", "key"])
def test_a_plain_address_is_refused_with_any_of_them(pem, address, name):
    text = refused(address, **{name: pem["both"]})
    assert text.startswith(f"--scheduler {address}: a plain connection is refused")
    assert f"--tls-{name} requires TLS; give tls://HOST:PORT" in text


def test_they_are_for_the_cluster_of_others(pem):
    assert "--tls-cert is for the cluster of --scheduler" in refused(None, cert=pem["both"])


def test_some_without_the_others_are_named(pem):
    assert refused(ca=pem["cert"]).startswith("--tls-ca needs --tls-cert too")
    assert refused(cert=pem["both"]).startswith("--tls-cert needs --tls-ca too")
    assert refused(key=pem["key"]).startswith("--tls-key needs --tls-ca and --tls-cert too")


@pytest.mark.parametrize("name", ["ca", "cert", "key"])
def test_a_file_that_is_not_there_is_named(pem, tmp_path, name):
    files = {"ca": pem["cert"], "cert": pem["cert"], "key": pem["key"]}
    assert refused(**files | {name: tmp_path / "gone"}) == (
        f"--tls-{name} {tmp_path / 'gone'}: there is no such file"
    )
    assert refused(**files | {name: tmp_path}) == f"--tls-{name} {tmp_path}: not a file"


def test_a_file_that_may_not_be_read_is_named(pem):
    pem["key"].chmod(0)
    files = {"ca": pem["cert"], "cert": pem["cert"], "key": pem["key"]}
    text = where_modes_hold(lambda: refused(**files))
    assert text.startswith(f"--tls-key {pem['key']}: cannot be read")


def test_files_that_do_not_belong_together_are_named(pem, tmp_path):
    text, other = tmp_path / "text", tmp_path / "other"
    text.write_text("no certificate\n")
    other.write_text(temporary().tls_client_key)
    assert refused(ca=text, cert=pem["both"]).startswith(f"--tls-ca {text}: holds no certificate")
    assert f"--tls-cert {pem['cert']} with the key in {other}" in refused(
        ca=pem["cert"], cert=pem["cert"], key=other
    )
    assert "give --tls-key unless" in refused(ca=pem["cert"], cert=pem["cert"])


def test_an_encrypted_key_is_refused_and_no_terminal_is_asked(pem, tmp_path):
    key = serialization.load_pem_private_key(pem["key"].read_bytes(), None)
    locked = tmp_path / "locked"
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    assert "unencrypted key" in refused(ca=pem["cert"], cert=pem["cert"], key=locked)
