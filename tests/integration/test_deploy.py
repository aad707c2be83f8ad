"""Units and the compose file of deploy/: systemd takes them, and their commands are understood."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import distributed.cli.dask_scheduler
import distributed.cli.dask_worker
import pytest
import yaml

from flows.notices.notice import SCHEMA, SCHEMA_VERSION
from flows.serve import OPTIONS as SERVE
from pipeline.config import AnalyzeConfig, IngestConfig, LogConfig, NotifyConfig, StatusConfig
from pipeline.options import merged
from pipeline.terminal.arguments import read_words
from tests.real_data import REPOSITORY

UNITS = sorted((REPOSITORY / "deploy" / "systemd").glob("*.*"))
COMPOSE = REPOSITORY / "deploy" / "compose.yaml"
ENVIRONMENT = REPOSITORY / "deploy" / "systemd" / "hopscope.env"
BIN, TLS = "/opt/hopscope/bin/", "/etc/hopscope/tls"
VALUES = {
    "CLUSTER_HOST": "10.0.0.1",
    "CLUSTER_SCHEDULER": "tls://10.0.0.1:8786",
    "CLUSTER_WORKERS": "8",
}
DASK = {
    "scheduler": distributed.cli.dask_scheduler.main,
    "worker": distributed.cli.dask_worker.main,
}


def variables():
    ours = merged(IngestConfig, AnalyzeConfig, NotifyConfig, LogConfig)
    return {each.variable for each in (*ours, *SERVE)}


def commands():
    for path in UNITS:
        for line in re.findall(r"^ExecStart=(.+)$", path.read_text(), re.MULTILINE):
            yield path.name, line


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_systemd_takes_every_unit(tmp_path):
    units = [path for path in UNITS if path.suffix in (".service", ".timer")]
    assert len(units) == 8
    for path in units:  # the program must be there to be found
        text = re.sub(rf"{BIN}\w+", shutil.which("true"), path.read_text())
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("unit", "line"), list(commands()))
def test_commands_of_units_are_understood(unit, line, tmp_path):
    for name in re.findall(rf"{TLS}/(\S+)", line):
        (tmp_path / name).touch()
    line = line.replace(TLS, str(tmp_path))
    for name, value in VALUES.items():
        line = line.replace(f"${{{name}}}", value)
    program, *words = shlex.split(line)
    if program == "/bin/sh":
        return tells(words, tmp_path)
    assert "$" not in line
    assert program.startswith(BIN)
    if words[0] == "serve":
        assert read_words(SERVE, words[1:], "hopscope serve", "")
    elif words[0] == "-m":
        assert words == ["-m", "flows.nightly"]
    elif words[0] == "status":
        given = read_words(merged(StatusConfig), words[1:], "hopscope status", "")
        config = given.config(StatusConfig)
        assert (config.max_age, config.max_data_age) == (26, 48)
        return None
    else:
        options = DASK[words[0]].make_context(words[0], words[1:]).params
        assert options["protocol"] == "tls"
        assert options["tls_ca_file"]
        assert options["tls_cert"]
        assert options["tls_key"]
        assert options["dashboard_address"].startswith("127.0.0.1:")
    return None


def tells(words, folder):
    """The program gets a notice about the unit that failed."""
    (folder / "program").write_text('#!/bin/sh\ncat "$1"\n')
    (folder / "program").chmod(0o755)
    script = words[1].replace("%i", "hopscope-late.service").replace("%H", "here")
    script = script.replace("/tmp/", f"{folder}/")
    done = subprocess.run(
        ["/bin/sh", words[0], script],
        env={"HOPSCOPE_NOTIFY_COMMAND": str(folder / "program"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    notice = json.loads(done.stdout)
    assert (notice["schema"], notice["schema_version"]) == (SCHEMA, SCHEMA_VERSION)
    assert (notice["status"], notice["run"]) == ("failed", "hopscope-late.service")
    assert "%" not in script


def test_nobody_else_reads_what_units_write_and_prefect_keeps():
    for name in ("hopscope", "hopscope-nightly", "hopscope-late", "hopscope-tell@"):
        text = (ENVIRONMENT.parent / f"{name}.service").read_text()
        assert "\nUMask=0077\n" in text
        modes = dict(re.findall(r"^(\w+Directory)(?:Mode)?=(\S+)$", text, re.MULTILINE))
        for folder in ("StateDirectory", "CacheDirectory"):
            assert modes.get(folder, "0700") == "0700"
    cron = next(yaml.safe_load_all((COMPOSE.parent / "kubernetes" / "nightly.yaml").read_text()))
    (run,) = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    (home,) = (each["value"] for each in run["env"] if each["name"] == "PREFECT_HOME")
    # A volume is open to its group: the home is a folder in it, which is made for one user.
    assert home not in {each["mountPath"] for each in run["volumeMounts"]}


def test_every_unit_that_works_at_night_tells_of_its_failure():
    for name in ("hopscope", "hopscope-nightly", "hopscope-late"):
        text = (ENVIRONMENT.parent / f"{name}.service").read_text()
        assert "\nOnFailure=hopscope-tell@%n.service\n" in text.partition("[Service]")[0]


def test_every_variable_is_one_that_is_read():
    text = ENVIRONMENT.read_text()
    given = set(re.findall(r"^#?(\w+)=", text, re.MULTILINE))
    assert given - set(VALUES) <= variables()
    assert set(VALUES) <= given
    service = yaml.safe_load(COMPOSE.read_text())["services"]["hopscope"]
    assert set(service["environment"]) - {"PREFECT_HOME"} <= variables()


def test_the_compose_file_opens_no_port_and_builds_what_is_there():
    compose = yaml.safe_load(COMPOSE.read_text())
    assert set(compose) == {"name", "services", "volumes"}
    (service,) = compose["services"].values()
    assert "ports" not in service  # serve listens on 127.0.0.1 of the machine
    assert service["network_mode"] == "host"
    assert (COMPOSE.parent / service["build"]["context"] / "Containerfile").is_file()
    command, *words = service["command"]
    assert command == "serve"
    assert read_words(SERVE, words, "hopscope serve", "")
    named = {volume.split(":")[0] for volume in service["volumes"] if volume[0] != "$"}
    assert named == set(compose["volumes"])
