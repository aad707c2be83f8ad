"""The guide to clusters and the manifests for Kubernetes: what they say is understood, and fits."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from types import ModuleType

import distributed.cli.dask_scheduler
import distributed.cli.dask_worker
import pytest
import yaml

from tests.integration.test_deploy import variables
from tests.integration.test_guides import BLOCK
from tests.integration.test_tls_cluster import Authority
from tests.real_data import REPOSITORY

PAGES = ("cluster", "slurm", "kubernetes", "services")
GUIDE = "\n".join((REPOSITORY / "docs" / "howto" / f"{page}.md").read_text() for page in PAGES)
MANIFESTS = REPOSITORY / "deploy" / "kubernetes"
DASK = {
    "scheduler": distributed.cli.dask_scheduler.main,
    "worker": distributed.cli.dask_worker.main,
}
# Of `dask cuda worker` in dask-cuda 26.10, which this machine may lack.
OF_CUDA = {"protocol", "host", "dashboard-address", "tls-ca-file", "tls-cert", "tls-key"}
OF_SBATCH = {"nodes", "ntasks-per-node", "cpus-per-task", "time"}
OF_JOBQUEUE = {"cores", "processes", "memory", "walltime", "protocol", "security"}
OF_JOBQUEUE |= {"scheduler_options", "worker_extra_args"}
SECRET = {"ca.pem", "scheduler.pem", "scheduler.key", "worker.pem", "worker.key"}
SECRET |= {"client.pem", "client.key"}
# What the operator sets in each container.
OF_OPERATOR = {"DASK_WORKER_NAME": "hopscope-default-worker-1"}


def blocks(kind):
    return [block for each, block in BLOCK.findall(GUIDE) if each == kind]


def lines(start):
    return [
        line for block in blocks("bash") for line in block.splitlines() if line.startswith(start)
    ]


def understood(words, folder):
    """Options that Dask reads from the words after ``dask``; its files of TLS exist."""
    for name in SECRET:
        (folder / name).touch()
    words = [str(folder / word) if word in SECRET else word for word in words]
    options = DASK[words[0]].make_context(words[0], words[1:]).params
    assert options["protocol"] == "tls"
    for part in ("tls_ca_file", "tls_cert", "tls_key"):
        assert options[part]
    return options


@pytest.mark.parametrize("line", [*lines("dask scheduler"), *lines("dask worker")])
def test_commands_by_hand_are_understood(line, tmp_path):
    options = understood(shlex.split(line)[1:], tmp_path)
    assert options["dashboard_address"].startswith("127.0.0.1:")


def test_the_command_for_gpus_has_only_words_of_dask_cuda():
    (line,) = lines("dask cuda worker")
    assert set(re.findall(r"--(\S+)", line)) == OF_CUDA


def test_the_script_for_slurm_starts_a_worker_with_the_address_of_its_node(tmp_path):
    (script,) = (block for block in blocks("bash") if "#SBATCH" in block)
    (directives,) = re.findall(r"^#SBATCH (.+)$", script, re.MULTILINE)
    assert {word.split("=")[0].removeprefix("--") for word in directives.split()} <= OF_SBATCH
    for name, content in {
        "srun": 'exec "$@"',
        "dask": 'printf "%s\\n" "$@"',
        "hostname": '[ "$1" = -i ] && echo 10.0.0.7',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{content}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    options = understood(done.stdout.splitlines(), tmp_path)
    assert options["host"] == "10.0.0.7"
    n_cores = int(re.search(r"--cpus-per-task=(\d+)", directives)[1])
    assert int(options["n_workers"]) * options["nthreads"] == n_cores


def test_the_program_for_jobqueue_gives_each_role_its_certificate(tmp_path, monkeypatch):
    authority = Authority(tmp_path, "ca")
    for role in ("scheduler", "worker", "client"):
        authority.sign(role)
    given = {}

    class Cluster:
        scheduler_address = "tls://10.0.0.1:1"

        def __init__(self, **options):
            given.update(options)

        def scale(self, jobs):
            given["jobs"] = jobs

    module = ModuleType("dask_jobqueue")
    module.SLURMCluster = Cluster
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.chdir(tmp_path)
    (program,) = blocks("python")
    exec(compile(program, "slurm.md", "exec"), {})
    assert given.pop("jobs") > 1
    assert set(given) == OF_JOBQUEUE
    assert given["processes"] == given["cores"]  # one thread each
    assert given["scheduler_options"] == {"dashboard_address": "127.0.0.1:8787"}
    assert given["worker_extra_args"] == ["--dashboard-address", "127.0.0.1:0"]
    for role in ("scheduler", "worker", "client"):
        connection = given["security"].get_connection_args(role)
        assert connection["require_encryption"]
        assert connection["ssl_context"] is not None


def manifest(name):
    return yaml.safe_load((MANIFESTS / f"{name}.yaml").read_text())


def fits(pod):
    """The container of a pod; what it mounts is there, by the names that the guide makes."""
    (container,) = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    assert volumes["tls"]["secret"] == {"secretName": "hopscope-tls"}
    if "store" in volumes:
        assert volumes["store"]["persistentVolumeClaim"] == {"claimName": "hopscope-store"}
    return container


def test_the_secret_of_the_guide_has_the_files_of_all_parts():
    (line,) = lines("kubectl create secret")
    assert set(re.findall(r"--from-file=(\S+)", line)) == SECRET
    for line in lines("kubectl apply"):
        assert (REPOSITORY / shlex.split(line)[-1]).is_file()


@pytest.mark.parametrize("part", ["scheduler", "worker"])
def test_commands_of_pods_are_understood(part, tmp_path):
    container = fits(manifest("cluster")["spec"][part]["spec"])
    program, *words = container["command"]
    assert program == "dask"
    assert set(re.findall(r"\$\((\w+)\)", " ".join(words))) <= set(OF_OPERATOR)
    options = understood([word.removeprefix("/tls/") for word in words], tmp_path)
    if part == "worker":
        assert options["scheduler"] == "tls://hopscope-scheduler:8786"
        assert options["nthreads"] == 1
        assert options["n_workers"] == container["resources"]["requests"]["cpu"]


def test_ports_of_the_service_are_those_of_its_pod(tmp_path):
    scheduler = manifest("cluster")["spec"]["scheduler"]
    container = fits(scheduler["spec"])
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    service = scheduler["service"]["ports"]
    assert {port["targetPort"]: port["port"] for port in service} == ports
    options = understood(
        [word.removeprefix("/tls/") for word in container["command"][1:]], tmp_path
    )
    assert options["port"] == str(ports["tcp-comm"])
    assert options["dashboard_address"] == f":{ports['http-dashboard']}"


def test_the_nightly_pod_reads_what_is_mounted_and_is_tried_again_only_if_that_helps():
    cluster, nightly = manifest("cluster"), manifest("nightly")
    job = nightly["spec"]["jobTemplate"]["spec"]
    pod = job["template"]["spec"]
    container = fits(pod)
    assert container["command"] == ["python3", "-m", "flows.nightly"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    assert set(environment) - {"PREFECT_HOME"} <= variables()
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    for name, value in environment.items():
        if value.startswith("/"):
            assert any(value.startswith(mount) for mount in mounts), name
    # Workers see the store under the same path.
    worker = fits(cluster["spec"]["worker"]["spec"])
    assert "/shared" in [mount["mountPath"] for mount in worker["volumeMounts"]]
    assert environment["HOPSCOPE_SCHEDULER"] in worker["command"]
    for part in ("CA", "CERT", "KEY"):
        assert environment[f"HOPSCOPE_TLS_{part}"].removeprefix("/tls/") in SECRET
    assert nightly["spec"]["concurrencyPolicy"] == "Forbid"
    (rule,) = job["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"]["containerName"] == container["name"]
    assert rule["onExitCodes"]["values"] == [1, 2]
    assert pod["restartPolicy"] == "Never"  # else a policy of failures is not taken
