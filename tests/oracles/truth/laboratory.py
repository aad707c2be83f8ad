"""Laboratories: what is true, what was measured, and the files beside it."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.errors import FormatError, UsageError
from pipeline.infer import AliasTable, Observation, Observer, PrefixTable, Registries
from pipeline.infer.traces.merge import merge_addresses
from pipeline.ingest import FORMATS, open_reader
from pipeline.ingest.tables import (
    read_aliases,
    read_delegations,
    read_exchanges,
    read_host_names,
    read_name_rules,
    read_organisations,
    read_prefixes,
    read_relationships,
)
from pipeline.judge import TRUTH, Truth, Visible, find_visible, load_truth
from pipeline.judge.ground_truth import plain_text, read_json
from pipeline.judge.observing import measurements_of
from pipeline.model.addresses import sort_addrs
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.named_owners import NamedOwners
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_file, table_of_files

ALIASES = "lab.aliases.nodes"
# Laboratories use ranges that are set apart for documentation and benchmarks.
LAB_RANGES = ("198.18.0.0/15", "2001:db8::/32")
# Programs that write a format of traces.
_PROGRAMS = {"warts": "scamper", "scamper_json": "scamper", "atlas": "RIPE Atlas"}


@dataclass(frozen=True, eq=False)
class Laboratory:
    """A laboratory, read; its observations need the scratch folder."""

    name: str
    truth: Truth
    observations: list[Observation]
    measured_by: str
    prefixes: PrefixTable
    aliases: AliasTable  # true ones
    registries: Registries  # what files beside the measurements say
    visible: Visible
    listed: Visible | None  # visible as a file beside the laboratory lists it

    @property
    def targets_are_routers(self) -> bool:
        """Whether most destinations that answered are addresses of routers."""
        seen = merge_addresses(self.observations)
        targets = format_addrs(seen.addrs[seen.is_target])
        return 2 * sum(addr in self.truth.router_of for addr in targets) > len(targets)

    def describe(self) -> str:
        """The network in words: its plan, its size, who measured it."""
        truth = self.truth
        size = f"{len(truth.asn_of)} routers, {len(set(truth.asn_of.values()))} ASes"
        if n := truth.n_exchanges:
            size += f", {n} exchange {'point' if n == 1 else 'points'}"
        return f"{truth.plan or self.name}: {size}; {self.measured_by}"


def _observe_files(
    folder: Path, scratch: Path, *, together: bool = False
) -> Iterator[tuple[set[str], Observation]]:
    """Formats and observation of every measurement of a laboratory, or of all together."""
    paths = list(measurements_of(folder))
    for group in [paths] if together else [[path] for path in paths]:
        observer, forms = Observer(scratch), set()
        for path in group:
            form, batches = open_reader(path, ReadReport(str(path)))
            forms.add(next(name for name, known in FORMATS.items() if known is form))
            for batch in batches:
                observer.add(batch)
        yield forms, observer.close()


def observe_lab(folder: Path, scratch: Path) -> list[Observation]:
    """Read every measurement of a laboratory, one observation per file."""
    return [observation for _, observation in _observe_files(folder, scratch)]


def load_prefixes(folder: Path) -> PrefixTable:
    """The prefix tables of a laboratory; UsageError if one of them cannot be used."""
    paths = sorted(folder.glob("lab.pfx2as*"))
    reports = [ReadReport(str(path)) for path in paths]
    prefixes = table_of_files(read_prefixes, paths, reports)
    if unusable := [report.error for report in reports if report.status == "rejected"]:
        raise UsageError("; ".join(unusable))
    return prefixes


def true_aliases(truth: Truth) -> AliasTable:
    """Alias sets as a perfect alias resolution would give them."""
    addrs = parse_addrs(truth.router_of)
    numbers = {router: i for i, router in enumerate(truth.asn_of)}
    router = np.array([numbers[r] for r in truth.router_of.values()], np.int64)
    order = sort_addrs(addrs)
    return AliasTable(addrs[order], router[order])


def load_aliases(folder: Path, truth: Truth) -> AliasTable:
    """Read the laboratory's ITDK nodes file; without one, the true alias sets."""
    path = folder / ALIASES
    return (
        table_of_file(read_aliases, path, ReadReport(str(path)))
        if path.is_file()
        else true_aliases(truth)
    )


def load_registries(folder: Path, observations: Sequence[Observation] = ()) -> Registries:
    """The files about ASes and addresses that lie in a laboratory; some may hold nothing.

    Of host names those of observed addresses.
    """

    def there(*names: str) -> tuple[list[Path], list[ReadReport]]:
        paths = [folder / name for name in names if (folder / name).is_file()]
        return paths, [ReadReport(str(path)) for path in paths]

    rel, org = there("lab.as-rel.txt"), there("lab.as2org.txt")
    held, met = there("lab.delegated"), there("lab.ixp.txt", "lab.peeringdb.json")
    return Registries(
        table_of_file(read_relationships, rel[0][0], rel[1][0]) if rel[0] else None,
        table_of_file(read_organisations, org[0][0], org[1][0]) if org[0] else None,
        table_of_files(read_delegations, *held) if held[0] else None,
        table_of_files(read_exchanges, *met) if met[0] else None,
        _named_owners(there("lab.names.tsv"), there("lab.name-rules.jsonl"), observations),
    )


def _named_owners(
    names: tuple[list[Path], list[ReadReport]],
    rules: tuple[list[Path], list[ReadReport]],
    observations: Sequence[Observation],
) -> NamedOwners | None:
    """What host names of observed addresses say; None: there are none, or no rules."""
    if not (names[0] and rules[0] and observations):
        return None
    addrs = merge_addresses(list(observations)).addrs
    found = table_of_files(lambda *of_files: read_host_names(*of_files, addrs), *names)
    at = np.array(sorted(found), np.int64)
    of_hosts = HostNames(addrs[at], np.array([found[i] for i in at.tolist()], object))
    return NamedOwners.read(of_hosts, table_of_files(read_name_rules, *rules), {})


def _listed(folder: Path, beside: Path) -> Visible | None:
    paths = (folder / "shown.json", beside)
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    data = read_json(path)
    return Visible(
        frozenset((router, asn) for router, asn in data["borders"]),
        frozenset(map(frozenset, data["links"])),
        frozenset(map(plain_text, data["addresses"])),
    )


def read_lab(
    folder: Path, scratch: Path, packed: Path | None = None, *, together: bool = False
) -> Laboratory:
    """Read a folder.

    ``packed``: the archive that it came in; ``together``: all files are one observation, which is
    inferred faster and says the same.
    """
    truth = load_truth(folder)
    measured = list(_observe_files(folder, scratch, together=together))
    formats = {form for some, _ in measured for form in some}
    observations = [observation for _, observation in measured]
    programs = " and ".join(sorted({_PROGRAMS.get(form, form) for form in formats}))
    if truth.plan and "warts" not in formats:
        programs = "simulated"  # planned networks are measured in warts, simulated in JSON
    place = packed or folder
    name = place.name.split(".tar")[0]
    return Laboratory(
        name,
        truth,
        observations,
        programs,
        load_prefixes(folder),
        load_aliases(folder, truth),
        load_registries(folder, observations),
        find_visible(truth, observations),
        _listed(folder, place.with_name(f"{name}.shown.json")),
    )


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Folder of a laboratory; a packed one is unpacked to a temporary folder."""
    if path.is_dir():
        if not (path / TRUTH).is_file():
            raise FormatError(path, TRUTH, "is not there, so this is not a laboratory")
        yield path
        return
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with tarfile.open(path) as archive:
                archive.extractall(scratch, filter="data")
        except (OSError, tarfile.TarError) as error:
            reason = str(error).splitlines()[0]
            raise FormatError(path, "archive", reason) from error
        truths = sorted(Path(scratch).rglob(TRUTH))
        if len(truths) != 1:
            raise FormatError(path, TRUTH, f"is there {len(truths)} times; pack one laboratory")
        yield truths[0].parent


@contextmanager
def open_lab(path: Path, *, together: bool = False) -> Iterator[Laboratory]:
    """Read a laboratory, packed or not (see ``read_lab``); what is on disk is gone afterwards."""
    with unpacked(path) as folder, tempfile.TemporaryDirectory() as scratch:
        packed = None if folder == path else path
        yield read_lab(folder, Path(scratch), packed, together=together)
