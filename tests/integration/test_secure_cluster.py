"""Only a run itself can reach the cluster that it started."""

import contextlib
import http.client
import os
import socket
import ssl
from pathlib import Path

import dask
import psutil
import pytest
from distributed.comm import connect
from distributed.security import Security

from pipeline.schedule.cluster.credentials import temporary
from pipeline.schedule.cluster.open import open_cluster
from tests.integration.measured import config_for, make_snapshot

HELLO_S = 60.0  # seconds to wait for an answer that must not come

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def others():
    """What other tests' clusters listen on, in this process and below it."""
    return set(listening())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, others):
    """Its user has another cluster's settings in Dask's configuration, and asks for encryption."""
    snapshot = make_snapshot(tmp_path_factory.mktemp("store"))
    config = config_for(snapshot, tmp_path_factory.mktemp("out"), workers=1, device="cpu")
    of_others = {
        "distributed.comm.require-encryption": True,
        "distributed.comm.tls.ca-file": "/nowhere/ca.pem",
        "distributed.comm.tls.ciphers": "ECDHE-RSA-AES128-GCM-SHA256",
        "distributed.comm.tls.worker.cert": "/nowhere/worker.pem",
    }
    with dask.config.set(of_others), open_cluster(config) as cluster:
        yield cluster


def processes():
    return [psutil.Process(), *psutil.Process().children(recursive=True)]


def listening():
    """(process id, address, port) of whatever this process and its children listen on."""
    return sorted(
        (process.pid, *connection.laddr)
        for process in processes()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    )


def who_hears(port, context=None):
    """The answer to a connection without credentials: "http", or nothing."""
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), HELLO_S)) as plain:
        try:
            stream = plain if context is None else context.wrap_socket(plain)
            stream.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = stream.recv(1000)
        except (ssl.SSLError, ConnectionError):
            return ""
    return "http" if answer.startswith(b"HTTP/1.1") else answer.decode(errors="replace")


def without_certificate():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def with_another():
    return temporary().get_connection_args("client")["ssl_context"]


def test_a_run_listens_only_on_this_machine_and_requires_its_certificate(cluster, others):
    ports = [port for port in listening() if port not in others]
    assert {address for _, address, _ in ports} == {"127.0.0.1"}
    spoken = [port for *_, port in ports if who_hears(port) == ""]
    pages = {port for *_, port in ports} - set(spoken)
    assert len(spoken) >= 3  # scheduler, nanny, worker
    assert int(cluster.address.rpartition(":")[2]) in spoken
    for port in spoken:
        assert who_hears(port, without_certificate()) == ""
        assert who_hears(port, with_another()) == ""
    # What is left is pages; those of a worker hold nothing.
    assert int(cluster.dashboard.split(":")[2].partition("/")[0]) in pages
    assert all(who_hears(port) == "http" for port in pages)


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_a_client_without_the_credentials_is_not_let_in(cluster, scheme):
    address = cluster.address.replace("tls://", f"{scheme}://")
    security = temporary() if scheme == "tls" else Security(require_encryption=False)

    async def join():
        await connect(address, timeout=2, **security.get_connection_args("client"))

    with pytest.raises(OSError, match=r"Timed out|closed|refused|certificate"):
        cluster.client.sync(join)
    assert cluster.client.run_on_scheduler(os.getpid) == os.getpid()  # who has them is


def test_the_key_is_in_no_file_and_on_no_command_line(cluster):
    key = cluster.client.security.tls_client_key.splitlines()[1]
    for process in processes()[1:]:
        assert key not in " ".join(process.cmdline())
        assert key not in " ".join(process.environ().values())
    folders = {Path(folder) for folder in cluster.client.run(local_directory).values()}
    files = [path for folder in folders for path in folder.parent.rglob("*") if path.is_file()]
    assert folders
    assert all(key.encode() not in path.read_bytes() for path in files)


def local_directory(dask_worker):
    return dask_worker.local_directory


def port_of(cluster):
    return int(cluster.dashboard.split(":")[2].partition("/")[0])


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:{port}", None, 200),
        ("LocalHost:{port}", None, 200),
        ("[::1]:{port}", None, 200),
        ("127.0.0.1:9999", None, 200),  # the near end of an SSH tunnel
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}", 200),
        ("rebound.example:{port}", None, 403),
        ("127.0.0.1.example:{port}", None, 403),
        ("127.0.0.1:{port}", "http://evil.example", 403),
        ("127.0.0.1:{port}", "http://127.0.0.1:1", 403),
        ("127.0.0.1:{port}", "null", 403),
        ("", None, 403),
        ("[::1", None, 403),
    ],
)
@pytest.mark.parametrize("path", ["/status", "/health", "/eventstream"])
def test_the_dashboard_answers_its_own_pages_alone(cluster, path, host, origin, status):
    port = port_of(cluster)
    headers = {"Host": host.format(port=port)}
    if origin is not None:
        headers["Origin"] = origin.format(port=port)
    if path == "/eventstream":  # a websocket
        headers |= {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        status = 101 if status == 200 else status
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == status
        if status != 403:
            assert answer.getheader("X-Frame-Options") == "SAMEORIGIN"
            assert answer.getheader("Content-Security-Policy") == "frame-ancestors 'self'"
