"""A planned network as Linux network namespaces: one per router or host, veth pairs as links.

No namespace has an interface to the outside, so all traffic stays inside. Needs root and iproute2,
and nft for silent routers.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lab.plan import Network

PREFIX = "hopscope"
# All namespaces share one neighbour table; beyond its thresholds entries are dropped and probes
# die. Two entries per link, and some room.
NEIGHBOR_TABLE = {"gc_thresh1": 8192, "gc_thresh2": 32768, "gc_thresh3": 65536}


@contextlib.contextmanager
def running(network: Network) -> Iterator[dict[str, str]]:
    """Build the network, yield name -> namespace, and remove it again on every exit.

    Raises
    ------
    subprocess.CalledProcessError
        If a command fails, for instance without root; its stderr says why.
    """
    _remove_leftovers()
    names = [*network.asn_of, *network.hosts]
    namespace = {name: f"{PREFIX}-{os.getpid()}-{name}" for name in names}
    try:
        with _neighbor_table():
            for name in names:
                _command("ip", "netns", "add", namespace[name])
            _connect(network, namespace)
            for router in network.asn_of:
                _configure_router(network, router, namespace)
            for name, host in network.hosts.items():
                lines = [
                    "link set lo up",
                    f"addr add {host.addr}/{host.lan.prefixlen} dev lan",
                    "link set lan up",
                    f"route add default via {host.gateway_addr}",
                ]
                _ip(namespace[name], lines)
            yield namespace
    finally:
        for name in names:
            _command("ip", "netns", "del", namespace[name], check=False)


def _command(*words: str, stdin: str | None = None, check: bool = True) -> None:
    subprocess.run(words, input=stdin, check=check, capture_output=True, text=True)


def _ip(namespace: str, lines: list[str]) -> None:
    _command("ip", "-n", namespace, "-batch", "-", stdin="\n".join(lines) + "\n")


def _remove_leftovers() -> None:
    """Delete the namespaces of earlier runs that were killed."""
    folder = Path("/run/netns")
    for path in folder.glob(f"{PREFIX}-*-*") if folder.is_dir() else ():
        if not Path("/proc", path.name.split("-")[1]).exists():
            _command("ip", "netns", "del", path.name, check=False)


@contextlib.contextmanager
def _neighbor_table() -> Iterator[None]:
    folder = Path("/proc/sys/net/ipv4/neigh/default")
    before = {name: (folder / name).read_text() for name in NEIGHBOR_TABLE}
    try:
        for name, entries in NEIGHBOR_TABLE.items():
            (folder / name).write_text(f"{max(entries, int(before[name]))}\n")
        yield
    finally:
        for name, text in before.items():
            (folder / name).write_text(text)


def _connect(network: Network, namespace: dict[str, str]) -> None:
    """All veth pairs in one batch; a router's interface is named after its neighbour."""
    lines = [
        f"link add to-{link.v} netns {namespace[link.u]} type veth"
        f" peer name to-{link.u} netns {namespace[link.v]}"
        for link in network.links
    ]
    lines += [
        f"link add lan netns {namespace[name]} type veth"
        f" peer name lan netns {namespace[host.gateway]}"
        for name, host in network.hosts.items()
    ]
    _command("ip", "-batch", "-", stdin="\n".join(lines) + "\n")


def _configure_router(network: Network, router: str, namespace: dict[str, str]) -> None:
    settings = {
        "ip_forward": 1,
        "conf.all.rp_filter": 0,
        "conf.default.rp_filter": 0,
        "fib_multipath_hash_policy": 1,  # one path per flow, so paris traceroute sees one
        "icmp_msgs_per_sec": 100000,
        "icmp_msgs_burst": 10000,
        # The kernel's default, 1000 ms per destination, is what "rate limited" means here.
        "icmp_ratelimit": 1000 if router in network.rate_limited else 0,
        # 1: errors carry the address of the interface that the probe came in on, as most routers
        # do; 0: of the one toward the prober.
        "icmp_errors_use_inbound_ifaddr": 0 if router in network.outgoing_address else 1,
    }
    _command(
        *("ip", "netns", "exec", namespace[router], "sysctl", "-qw"),
        *(f"net.ipv4.{name}={value}" for name, value in settings.items()),
    )
    lines = ["link set lo up", f"addr add {network.loopback[router]}/32 dev lo"]
    for link in network.links_of(router):
        device = f"to-{link.other(router)}"
        lines += [
            f"addr add {link.addr(router)}/{link.subnet.prefixlen} dev {device}",
            f"link set {device} up",
        ]
    for host in network.hosts.values():
        if host.gateway == router:
            lines += [
                f"addr add {host.gateway_addr}/{host.lan.prefixlen} dev lan",
                "link set lan up",
            ]
    for prefix, hops in network.routes[router]:
        to = f"via {hops[0]}" if len(hops) == 1 else " ".join(f"nexthop via {hop}" for hop in hops)
        lines.append(f"route replace {prefix} {to}")
    lines += [_odd_route(network, odd) for odd in network.odd if odd.owner == router]
    _ip(namespace[router], lines)
    if router in network.silent:
        rules = (
            "add table ip lab; add chain ip lab out { type filter hook output priority 0; };"
            " add rule ip lab out icmp type time-exceeded drop"
        )
        _command("ip", "netns", "exec", namespace[router], "nft", rules)


def _odd_route(network: Network, odd) -> str:
    """Refuse or swallow a prefix, or send it to a neighbour that sends it back."""
    if odd.action != "loop":
        return f"route replace {odd.action} {odd.prefix}"
    for link in network.links_of(odd.owner):
        neighbor = link.other(odd.owner)
        back = dict(network.routes[neighbor]).get(str(odd.prefix))
        if back == [str(link.addr(odd.owner))]:
            return f"route replace {odd.prefix} via {link.addr(neighbor)}"
    raise ValueError(f"no neighbour of {odd.owner} sends {odd.prefix} straight back")
