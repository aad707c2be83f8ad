"""Reports are served to this machine's browser, and nothing else is."""

from __future__ import annotations

import contextlib
import http.client
import threading
import urllib.request

import pytest

from flows.pages.server import INDEX, ReportServer, no_index_page, start_page
from flows.runs.api import Api, Run
from pipeline.places import folder_of
from pipeline.stages.run_metrics import NAME

RUN_NOW = "prefect deployment run <nightly>"


@pytest.fixture
def out(tmp_path):
    out = tmp_path / "out"
    for name in ("2026-11-20", "2026-11-21", "<b>bold", ".writing"):
        (out / name).mkdir(parents=True)
        (out / name / "index.html").write_text(f"report of {name}")
    (out / "empty").mkdir()
    (tmp_path / "secret").write_text("secret")
    (out / "2026-11-21" / "link").symlink_to(tmp_path / "secret")
    (out / "loop").symlink_to(out / "loop")
    return out


@contextlib.contextmanager
def served(out):
    # Nothing listens on port 9: Prefect does not answer, but the pages must.
    api = Api("http://127.0.0.1:9/api")
    with ReportServer(0, out, "http://127.0.0.1:9", api, RUN_NOW) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(out):
    with served(out) as server:
        yield server


def get(server, path: str, host: str | None = None, method: str = "GET"):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{server.server_address[1]}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/reports/2026-11-21/index.html", "/reports/", "/nowhere"])
def test_no_other_site_can_frame_a_page_or_learn_its_address(server, path):
    with urllib.request.build_opener(Unraised).open(f"{server.url}{path}", timeout=10) as answer:
        headers = answer.headers
    assert headers["X-Frame-Options"] == "DENY"
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["frame-ancestors"] == policy["default-src"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"


class Unraised(urllib.request.HTTPErrorProcessor):
    """Returns errors as answers."""

    def http_response(self, request, response):
        return response


def test_a_report_is_served(server):
    assert get(server, "/reports/2026-11-21/index.html") == (200, "report of 2026-11-21")


def test_the_start_page_lists_reports_and_links_to_prefect(server):
    status, text = get(server, "/")
    assert status == 200
    assert "/reports/2026-11-20/index.html" in text
    assert "Newest report" in text
    assert "http://127.0.0.1:9" in text
    assert "<b>bold" not in text
    assert "&lt;b&gt;bold" in text
    assert "prefect deployment run &lt;nightly&gt;" in text
    assert "Prefect does not answer" in text
    assert "No run in progress" not in text
    assert "empty" not in text
    assert ".writing" not in text


def test_the_page_of_all_nights_is_served_and_named(server, out):
    assert "All nights" not in get(server, "/")[1]
    (out / "index.html").write_text("all of them")
    assert '<a href="/reports/index.html">All nights</a>' in get(server, "/")[1]
    for path in ("/reports/index.html", "/reports/", "/reports"):
        with urllib.request.urlopen(f"{server.url}{path}", timeout=10) as answer:
            assert (answer.url, answer.read()) == (f"{server.url}{INDEX}", b"all of them")


@pytest.mark.parametrize("path", ["/reports", "/reports/", "/reports/index.html"])
def test_before_any_report_its_address_says_how_to_make_one(server, out, path):
    status, text = get(server, path)
    assert status == 404
    assert "No page of all nights yet" in text
    server.out = out / "<b>none'"
    status, text = get(server, path)
    assert status == 404
    assert "No report yet" in text
    assert "prefect deployment run &lt;nightly&gt;" in text
    assert "hopscope analyze --store DIR --out &#x27;" in text
    assert "<b>none" not in text
    assert get(server, path, method="HEAD") == (404, "")
    assert get(server, path, host="evil.example")[0] == 421


def test_names_with_braces_are_shown_as_they_are(tmp_path):
    (tmp_path / "{newest}").mkdir()
    (tmp_path / "{newest}" / "index.html").write_text("a report")
    assert ">{newest}</a>" in start_page(tmp_path, "http://127.0.0.1:9", [], RUN_NOW)
    assert "{newest}" in no_index_page(tmp_path / "{newest}", RUN_NOW)


def test_the_start_page_is_there_before_the_first_report(tmp_path):
    for out in (tmp_path, tmp_path / "not-yet"):
        text = start_page(out, "http://127.0.0.1:9", [], RUN_NOW)
        assert f"None yet in {out}" in text
        assert "Newest report" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/reports/../secret",
        "/reports/%2e%2e/secret",
        "/reports/..%2fsecret",
        "/reports/2026-11-21/../../secret",
        "/reports//etc/passwd",
        "/reports/%2fetc%2fpasswd",
        "/reports/2026-11-21/link",
        "/reports/.writing/index.html",
        "/reports/2026-11-21/",
        "/reports/",
        "/reports/%00",
        f"/reports/{'a' * 300}/index.html",
        f"/reports/{'a/' * 3000}index.html",
        "/reports/loop/index.html",
        "/secret",
        "//secret",
    ],
)
def test_nothing_outside_hidden_or_listed_is_shown(server, path):
    status, text = get(server, path)
    assert status == 404
    assert "secret" not in text.replace(path, "")


def test_a_browser_that_hangs_up_is_ignored(server, capsys):
    def fail_with(error: Exception) -> str:
        try:
            raise error
        except type(error):
            server.handle_error(None, ("127.0.0.1", 1))
        return capsys.readouterr().err

    for error in (BrokenPipeError(), ConnectionResetError(), TimeoutError()):
        assert fail_with(error) == ""
    assert "a fault" in fail_with(KeyError("a fault"))


def test_another_site_cannot_read_the_pages(server):
    assert get(server, "/", host="evil.example:80")[0] == 421
    assert get(server, "/reports/2026-11-21/index.html", host="evil.example")[0] == 421


def test_only_reading_is_possible(server):
    for method in ("POST", "PUT", "DELETE"):
        assert get(server, "/", method=method)[0] == 501


def test_a_run_in_progress_shows_its_dashboard(out):
    run = Run("bold-<i>", "http://127.0.0.1:9/runs/1", "http://127.0.0.1:8787/status")
    waiting = Run("second", "http://127.0.0.1:9/runs/2", "", "Waiting")
    text = start_page(out, "http://127.0.0.1:9", [run, waiting], RUN_NOW)
    assert ">second</a>: Waiting" in text
    assert 'href="http://127.0.0.1:8787/status"' in text
    assert "bold-&lt;i&gt;" in text
    assert "No run in progress" in start_page(out, "http://127.0.0.1:9", [], RUN_NOW)


def test_metrics_are_those_of_the_newest_run(server, out):
    assert get(server, "/metrics") == (200, "")
    (out / NAME).write_text("hopscope_run_in_progress 1.0\n")
    assert get(server, "/metrics") == (200, "hopscope_run_in_progress 1.0\n")
    assert get(server, "/metrics", host="evil.example")[0] == 421
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"


def test_metrics_are_no_way_out_of_the_folder(server, out):
    (out / NAME).symlink_to(out.parent / "secret")
    assert get(server, "/metrics") == (200, "")


def test_reports_at_a_url_are_not_served_but_metrics_of_this_machine_are(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path))
    out = folder_of("s3://lab-bucket/reports")
    (out / "a").mkdir(parents=True)
    for page in (out / "index.html", out / "a" / "index.html"):
        page.write_text("of this machine alone")
    (out / NAME).write_text("hopscope_run_in_progress 1.0\n")
    said = "They are at <code>s3://lab-bucket/reports</code>, and are not served from here."
    with served(out) as server:
        status, start = get(server, "/")
        assert (status, said in start, "of this machine" in start) == (200, True, False)
        assert 'href="/reports/' not in start
        for path in ("/reports", "/reports/", INDEX, "/reports/a/index.html", f"/reports/{NAME}"):
            status, page = get(server, path)
            assert (status, said in page) == (404, True), path
        assert get(server, "/metrics") == (200, "hopscope_run_in_progress 1.0\n")
