"""Build the lab, measure it with scamper from a host in each AS, and write the samples.

usage: python -m benchmarks.lab OUTDIR

As root, on Linux, with iproute2, nft and scamper (with sc_warts2json). Takes about a minute.
"""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.lab.namespaces import running
from benchmarks.lab.plan import ASES, Network, plan_network
from pipeline.model.choices import TRUTH

# Answers come within milliseconds here; a gap of 5 silent hops ends a trace.
TRACE = "trace -P {method} -w 1 -q 2 -g 5"
PROBES_PER_S = 1000
# (host, method, written as): every host by ICMP, three by UDP of which two as JSON.
RUNS = [(f"h{i}", "icmp-paris", "warts") for i in range(len(ASES))] + [
    ("h2", "udp-paris", "warts"),
    ("h0", "udp-paris", "json"),
    ("h7", "udp-paris", "json"),
]


def main(arguments: list[str]) -> int:
    """Measure into the folder named; returns the exit status."""
    if len(arguments) != 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    network = plan_network()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that cleanup runs
    try:
        with tempfile.TemporaryDirectory() as scratch, running(network) as namespace:
            started = time.monotonic()
            _measure(network, namespace, Path(scratch), out)
            print(f"measured in {time.monotonic() - started:.0f} s", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd))}: {error.stderr}", file=sys.stderr)
        return 1
    _write_truth(network, out)
    return 0


def _measure(network: Network, namespace: dict[str, str], scratch: Path, out: Path) -> None:
    targets = scratch / "targets.txt"
    targets.write_text("\n".join(network.targets()) + "\n")
    commands = [
        (host, method, kind, ["-c", TRACE.format(method=method), "-f", str(targets)])
        for host, method, kind in RUNS
    ]
    # A file that holds more than traces, like those of real collections.
    hosts = [str(host.addr) for host in network.hosts.values()]
    mixed = [f"{TRACE.format(method='udp-paris')} {addr}" for addr in hosts]
    mixed += [f"ping -c 2 {addr}" for addr in hosts[:4]]
    mixed += [f"tracelb -P udp-sport -w 1 -q 1 -g 3 {addr}" for addr in hosts[:2]]
    commands.append(("h9", "mixed", "warts", [word for line in mixed for word in ("-I", line)]))
    running_now = []
    try:
        for host, method, _, words in commands:
            # A host name of its own, since scamper writes it into the file.
            named = ["sh", "-c", 'hostname "$0"; exec "$@"', f"lab-{host}"]
            scamper = ["scamper", "-p", str(PROBES_PER_S), "-M", f"lab-{host}", "-O", "warts"]
            scamper += ["-o", str(scratch / f"{host}.{method}.warts"), *words]
            inside = ["ip", "netns", "exec", namespace[host], "unshare", "--uts"]
            running_now.append(
                subprocess.Popen([*inside, *named, *scamper], stdout=subprocess.DEVNULL)
            )
        for process in running_now:
            if process.wait() != 0:
                raise subprocess.CalledProcessError(process.returncode, process.args)
    finally:
        for process in running_now:
            process.kill()
            process.wait()
    for host, method, kind, _ in commands:
        warts = scratch / f"{host}.{method}.warts"
        data = warts.read_bytes()
        if kind == "json":
            data = subprocess.run(
                ["sc_warts2json", str(warts)], check=True, capture_output=True
            ).stdout
        (out / f"{host}.{method}.{kind}.gz").write_bytes(gzip.compress(data, 9, mtime=0))


def _write_truth(network: Network, out: Path) -> None:
    (out / TRUTH).write_text(json.dumps(network.truth(), indent=1) + "\n")
    names = {str(system.asn): system.name for system in ASES}
    (out / "as_names.json").write_text(json.dumps(names, indent=1) + "\n")
    (out / "lab.pfx2as").write_text(
        "".join(
            f"{system.prefix.network_address}\t{system.prefix.prefixlen}\t{system.asn}\n"
            for system in ASES
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
