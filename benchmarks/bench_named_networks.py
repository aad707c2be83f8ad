"""Ten networks of known truth that a paper can name: made, read and judged by commands of users.

Command: python benchmarks/bench_named_networks.py [NAME...] [--keep FOLDER] [--check]
           [--bdrmapit PROGRAM] [--outputs METHOD=FOLDER]...
Makes each network, reads its traces into a store with the prefix table alone and with the files of
registries beside it, and judges both, then what other methods said of it. ``--bdrmapit`` runs
bdrmapIT, as ``tests.oracles.truth.bdrmapit`` does, without alias sets and with the true ones, and
judges the file that it writes; PROGRAM is in an environment of its own: Python 3.10, ``pip install
bdrmapit traceutils2``. Of ``--outputs`` the file or folder ``FOLDER/NAME-7001.*`` is judged, of any
form that ``hopscope judge`` takes, or JSON, address to AS. Writes
benchmarks/results/named_networks.json (of all ten only): a row for each network and way, with its
figures, and sizes and digests of each network.
``--check`` only makes them and compares their digests with the recorded ones; the status is 1 if
any differs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import REPOSITORY, RESULTS, record
from tests.oracles.truth.bdrmapit import annotate, version_of

SUBJECT = "named_networks"
SEED = 7001  # no rule and no weight of ours was chosen on any network of this seed
# Kinds of networks, which name them, and what each is hard for.
NETWORKS: Mapping[str, str] = {
    "realistic": "a little of everything that follows",
    "customer": "links between provider and customer have addresses of the customer",
    "answers": "a third of the routers answer with the address of the outgoing interface, a tenth "
    "with their loopback",
    "harsh": "two in five routers silent or limited; private and unannounced addresses, prefixes "
    "of two origins, siblings",
    "large_exchange": "313 of 412 ASes meet on one LAN that nobody announces",
    "mpls": "most large ASes hide their inner routers in tunnels",
    "ipv6": "IPv6, links of /127, /126 and /64",
    "ecmp_classic": "load balancing over up to 16 ways, and traces that change flow at every probe",
    "firewalled": "of three in ten stubs nothing answers, of two in ten the border alone",
    "big": "1,546 ASes, five exchange points, tunnels: size",
}
WAYS: Mapping[str, dict[str, list[str]]] = {
    "traces and prefixes": {},
    "registries": {
        "--as-rel": ["lab.as-rel.txt"],
        "--as2org": ["lab.as2org.txt"],
        "--delegated": ["lab.delegated"],
        "--ixp": ["lab.ixp.txt", "lab.peeringdb.json"],
    },
}
# Ways of bdrmapIT, each with whether it is given the true alias sets.
BDRMAPIT: Mapping[str, bool] = {"bdrmapIT": False, "bdrmapIT, true aliases": True}
_AT_ONCE = 4  # networks; much of the time is programs that start
# Traces of each: of every vantage point and method to every target once.
TRACES: Mapping[str, int] = {
    "realistic": 9216,
    "customer": 5184,
    "answers": 4704,
    "harsh": 5184,
    "large_exchange": 6258,
    "mpls": 3108,
    "ipv6": 3108,
    "ecmp_classic": 2748,
    "firewalled": 3108,
    "big": 46830,
}
README = "README.txt"  # says which version made them
HOPSCOPE = [sys.executable, "-m", "pipeline.cli"]


def run(*words: str) -> str:
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def make(name: str, into: Path) -> Path:
    """Draw a network and trace through it, unless that was done; its folder."""
    folder = into / f"{name}-{SEED}"
    if not folder.exists():
        run(*HOPSCOPE, *command(name), "--out", str(folder))
    return folder


def command(name: str) -> list[str]:
    """Words of the command that makes a network, but for its folder."""
    traces = ["--traces", str(TRACES[name])]
    return ["generate", "internet", *traces, "--kind", name, "--seed", str(SEED)]


def digest(folder: Path) -> str:
    """SHA-256 of what is true, given and measured, whatever the compression: names and contents."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.name != README):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        found.update(path.name.encode() + b"\0" + hashlib.sha256(data).digest())
    return found.hexdigest()


def has_exchanges(folder: Path) -> bool:
    """Whether a network has exchange points."""
    lines = (folder / "lab.ixp.txt").read_text().splitlines()
    return any(not line.startswith("#") for line in lines)


def ingest(folder: Path, way: str, store: Path) -> None:
    """Read the traces of a network, with the tables of one way."""
    given = [
        word
        for option, files in WAYS[way].items()
        if option != "--ixp" or has_exchanges(folder)  # a list without a LAN is refused
        for file in files
        for word in (option, str(folder / file))
    ]
    traces = [str(path) for path in sorted(folder.glob("*.json.gz"))]
    prefixes = ["--ip2as", str(folder / "lab.pfx2as")]
    run(*HOPSCOPE, "ingest", *traces, *prefixes, *given, "--store", str(store))


def judged(output: Path, folder: Path) -> dict[str, Any]:
    """What ``hopscope judge`` says of a store, or of another method's output, as parts of a row."""
    with tempfile.TemporaryDirectory() as scratch:
        if output.suffix == ".json":
            owners = json.loads(output.read_text())
            output = Path(scratch) / "owners.csv"
            lines = (f"{addr},{asn}\n" for addr, asn in owners.items())
            output.write_text("address,asn\n" + "".join(lines))
        facts = json.loads(run(*HOPSCOPE, "judge", str(output), str(folder), "--json"))
    figures = {
        name: {key: one[key] for key in ("right", "of", "standard_error")}
        for name, one in facts["figures"].items()
    }
    sizes = {name: facts["truth"][name] for name in ("n_ases", "n_routers", "n_links")}
    return sizes | {"n_traces": facts["traces"]["n"], "figures": figures}


def rows_of(
    name: str, folder: Path, outputs: Mapping[str, Path], bdrmapit: str | None = None
) -> Iterator[dict[str, Any]]:
    """A row for each way, then for each other method that said something of this network."""
    named = {"network": name, "digest": digest(folder)}
    for way in WAYS:
        with tempfile.TemporaryDirectory() as scratch:
            store = Path(scratch) / "store"
            ingest(folder, way, store)
            yield named | {"way": way} | judged(store, folder)
    for way, true_aliases in BDRMAPIT.items() if bdrmapit else ():
        with tempfile.TemporaryDirectory() as scratch:
            output = Path(scratch) / "annotations.db"
            annotate(folder, bdrmapit, output, true_aliases=true_aliases)
            yield named | {"way": way} | judged(output, folder)
    for method, place in outputs.items():
        for output in sorted(place.glob(f"{folder.name}.*"))[:1]:
            yield named | {"way": method} | judged(output, folder)


def check(names: list[str], into: Path) -> int:
    """1 if a network is not the one that was recorded."""
    rows = json.loads((RESULTS / f"{SUBJECT}.json").read_text())["rows"]
    recorded = {row["network"]: row["digest"] for row in rows}
    different = [name for name in names if digest(make(name, into)) != recorded[name]]
    print(f"not those that were recorded: {', '.join(different)}" if different else "the same")
    return bool(different)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NETWORKS)} [all]")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where networks are, and stay")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bdrmapit", metavar="PROGRAM")
    parser.add_argument("--outputs", action="append", default=[], metavar="METHOD=FOLDER")
    given = parser.parse_args()
    names = given.names or list(NETWORKS)
    if unknown := set(names) - NETWORKS.keys():
        parser.error(f"no network is called {', '.join(sorted(unknown))}")
    outputs = {}
    peers = {"bdrmapit": version_of(given.bdrmapit)} if given.bdrmapit else {}
    for one in given.outputs:
        method, _, place = one.partition("=")
        if not Path(place).is_dir():
            parser.error(f"--outputs {one}: give METHOD=FOLDER")
        outputs[method] = Path(place)
    with tempfile.TemporaryDirectory() as scratch:
        into = given.keep or Path(scratch)
        if given.check:
            return check(names, into)

        def rows_of_network(name: str) -> list[dict[str, Any]]:
            return list(rows_of(name, make(name, into), outputs, given.bdrmapit))

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            rows = [row for found in pool.map(rows_of_network, names) for row in found]
        target = None if len(names) == len(NETWORKS) else Path(scratch)
        record(SUBJECT, rows, target, seed=SEED, peers=peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
