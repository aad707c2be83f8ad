"""Stores, their snapshots, and the ASes of those, as mappings."""

from __future__ import annotations

import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import StoreError
from pipeline.model.choices import as_number_in
from pipeline.model.words import ingresses_text, links_text, node_words, nodes_text, number
from pipeline.places import folder_of, in_one_line, shown, url_of
from pipeline.store import Snapshot as StoredSnapshot
from pipeline.store import open_snapshot, snapshot_names

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

    from kernels import CSRGraph

N_SHOWN = 10  # rows of a table in a notebook


def open_store(store: str | os.PathLike, reports: str | os.PathLike | None = None) -> Store:
    """Open a store.

    Parameters
    ----------
    store : path or URL
        Folder of snapshots (``--store``), or ``s3://bucket/name``.
    reports : path or URL, optional
        Folder of reports (``--out``): tables then have what the last report measured.

    Raises
    ------
    pipeline.errors.StoreError
        If there is no snapshot.
    """
    path = folder_of(store)
    if not _names(path):
        _opened(path)  # says that there is none, and what makes one
    return Store(path, None if reports is None else folder_of(reports))


@contextmanager
def _named_by_urls() -> Iterator[None]:
    """Errors of a store at a URL name it, not its mirror on this disk."""
    try:
        yield
    except StoreError as error:
        error.args = (in_one_line(error),)
        raise


def _names(path: Path) -> list[str]:
    with _named_by_urls():
        return snapshot_names(path)


def _opened(path: Path, name: str | None = None) -> StoredSnapshot:
    with _named_by_urls():
        return open_snapshot(path, name)


class _Placed(ABC):
    """Equal, with equal hashes, are objects of one class that are at the same place.

    Not what they hold is compared, as mappings do otherwise: that would read all of it.
    """

    @property
    @abstractmethod
    def _place(self) -> tuple[object, ...]:
        """Where it is."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)


class Store(_Placed, Mapping[str, "Snapshot"]):
    """The snapshots of a store by name, the one ingested last at the end.

    Stores of the same folder or URL are equal, and have equal hashes, with any reports.

    Attributes
    ----------
    path : Path
    reports : Path or None
    """

    def __init__(self, path: Path, reports: Path | None = None):
        self.path, self.reports = path, reports

    def __getitem__(self, name: str) -> Snapshot:
        if name not in _names(self.path):
            raise KeyError(
                f"no snapshot {name!r} in {shown(self.path)}; "
                f"available snapshots: {', '.join(self)}"
            )
        return Snapshot(_opened(self.path, name), self.reports)

    def __iter__(self) -> Iterator[str]:
        return iter(_names(self.path))

    def __len__(self) -> int:
        return len(_names(self.path))

    @property
    def newest(self) -> Snapshot:
        """The snapshot ingested last."""
        return Snapshot(_opened(self.path), self.reports)

    def compare(self, old: str, new: str) -> Comparison:
        """What changed between two of its snapshots, see ``hopscope.compare``."""
        return Comparison.between(self[old], self[new])

    @property
    def _place(self) -> tuple[object, ...]:
        return (url_of(self.path) or self.path.resolve(),)

    def __repr__(self) -> str:
        names = list(self)
        last = ", ".join(names[-5:])
        more = f"{len(names) - 5} more, " if len(names) > 5 else ""
        return f"Store({shown(self.path)!r}: {number(len(names), 'snapshot')}: {more}{last})"

    def _repr_html_(self) -> str:
        rows = []
        for name in list(self)[-N_SHOWN:]:
            try:
                with open_snapshot(self.path, name) as stored:
                    counts = _counts(stored)
            except StoreError as error:
                counts = in_one_line(error)
            rows.append((name, counts))
        return _html(f"Store {shown(self.path)}", ("snapshot", "holds"), rows)


def compare(store: Store | str | os.PathLike, old: str, new: str) -> Comparison:
    """Find what changed between two snapshots of a store; nothing is written.

    Parameters
    ----------
    store : Store, path or URL
        With ``reports``, figures of both reports are compared, too.
    old, new : str
        Names of the snapshots, the older one first. RTTs and hops are compared with those of the
        older one alone; ``hopscope compare`` takes the nights before it into account.

    Raises
    ------
    KeyError
        If there is no such snapshot.
    pipeline.errors.StoreError
        If there is no snapshot at all, or one is broken.
    """
    return (store if isinstance(store, Store) else open_store(store)).compare(old, new)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What changed between two snapshots.

    Attributes
    ----------
    old, new : str
        Their names.
    changes : pyarrow.Table
        A row per change, as ``changes.parquet``.
    events : pyarrow.Table
        A row per group of changes that go together, the largest first, as ``events.parquet``.
    """

    old: str
    new: str
    changes: pa.Table
    events: pa.Table

    @classmethod
    def between(cls, old: Snapshot, new: Snapshot) -> Comparison:
        """Compare two snapshots, of one store or of two."""
        from pipeline.stages.compare import compared_tables

        tables = compared_tables(old._stored, new._stored, new._reports)
        return cls(old.name, new.name, *tables)

    def __repr__(self) -> str:
        n_changes = number(self.changes.num_rows, "change")
        return f"Comparison({self.old!r}, {self.new!r}: {n_changes} in {self._events()})"

    def _events(self) -> str:
        return number(self.events.num_rows, "event")

    def _repr_html_(self) -> str:
        first = self.events.slice(0, N_SHOWN).to_pylist()
        return _html(
            f"From {self.old} to {self.new}: {self._events()}",
            ("kind", "event"),
            [(row["kind"], row["text"]) for row in first],
        )


def _as_number(asn: int | str) -> int | None:
    """An AS number, also from a text such as AS64496; None for what is none."""
    try:
        return as_number_in(asn) if isinstance(asn, str) else operator.index(asn)
    except TypeError:
        return None


class Snapshot(_Placed, Mapping[int, "AutonomousSystem"]):
    """One snapshot: its ASes by number, and tables of all of them.

    Tables are Arrow; ``.to_pandas()`` of each gives pandas, if that is installed. Snapshots are
    equal, and have equal hashes, if they are the same version of one store, with any reports:
    another ingest by the same name makes another version.

    Attributes
    ----------
    name : str
    """

    def __init__(self, stored: StoredSnapshot, reports: Path | None = None):
        self._stored, self._reports = stored, reports
        self.name = stored.name

    def __getitem__(self, asn: int | str) -> AutonomousSystem:
        number = _as_number(asn)
        if number is None:
            raise KeyError(f"{asn!r} is not an AS number")
        row = self._stored.row_of(number)
        return AutonomousSystem(self._stored, row, self._reports)

    def __iter__(self) -> Iterator[int]:
        return iter(self._stored.asn.tolist())

    def __len__(self) -> int:
        return self._stored.n_ases

    @property
    def facts(self) -> dict[str, Any]:
        """What it holds and comes from, as ``hopscope show --json`` prints it."""
        from pipeline.stages.contents.snapshots import snapshot_facts

        return snapshot_facts(self._stored)

    @cached_property
    def measures(self) -> pa.Table:
        """One row per AS: ``ases.parquet`` of the last report, else what the snapshot counts.

        ASes that a report of some leaves out have null for what only a report knows; so have their
        ingresses.
        """
        from pipeline.stages.contents.access import as_table

        return as_table(self._stored, self._reports)

    @cached_property
    def ingresses(self) -> pa.Table:
        """One row per ingress: ``ingresses.parquet`` of the last report, else without results."""
        from pipeline.stages.contents.access import ingress_table

        return ingress_table(self._stored, self._reports)

    @cached_property
    def exits(self) -> pa.Table:
        """One row per exit, as ``exits.parquet``."""
        from pipeline.stages.contents.access import exit_table

        return exit_table(self._stored, np.arange(len(self)))

    @cached_property
    def as_links(self) -> pa.Table:
        """One row per pair of linked ASes, as ``as_links.parquet``."""
        from pipeline.stages.contents.access import as_link_table

        return as_link_table(self._stored, np.arange(len(self)))

    def find(self, address: str) -> list[tuple[int, int]]:
        """(AS number, node) of an address, or of all addresses of a prefix.

        Raises
        ------
        ValueError
            If the text is neither.
        """
        from pipeline.stages.contents.lookup import find

        found = find(self._stored, address)
        return list(zip(self._stored.asn[found.row].tolist(), found.node.tolist(), strict=True))

    def why(self, address: str) -> dict[str, object]:
        """Why an address is in its AS and on its router: what ``hopscope why --json`` prints.

        ``owners``: the AS, the second one, and what each term costs in both, in nats; ``joins``:
        which rule joined which addresses of its router; ``sentences``: the same in words.
        ``links``, ``ingress``, ``exit``, ``n_traces``, ``rtt_ms``, ``nights``: what is known of the
        router.

        Raises
        ------
        UsageError
            If the snapshot has no such address.
        """
        from pipeline.stages.contents.why import reasons_for

        return reasons_for(self._stored, address)

    def judge(
        self, truth: str | os.PathLike, traces: Iterable[str | os.PathLike] = ()
    ) -> dict[str, Any]:
        """It against what is true of its network: what ``hopscope judge --json`` prints.

        ``figures`` by name (``ingresses``, ``borders``, ``addresses``, ...): ``share``, ``right``,
        ``of``, ``standard_error``, or ``reason`` why it cannot be said; ``errors``: how many of
        each kind.

        Parameters
        ----------
        truth : path
            ``ground_truth.json``, a CSV of address, asn and router, or the folder that has either.
        traces : paths
            Files of traces that say what can be found; none: those in the folder of the truth, else
            those that the snapshot keeps.

        Raises
        ------
        UsageError
            If it has no addresses, no traces say what can be found, or the truth knows none of its
            addresses.
        FormatError
            If the truth, or a file of traces, cannot be read.
        """
        from pipeline.stages.judge import judge_snapshot, read_known

        known = read_known(Path(truth))
        return judge_snapshot(self._stored, known, [Path(each) for each in traces])[0]

    def traces(
        self,
        address: str | None = None,
        *,
        link: tuple[str, str] | None = None,
        ingress: str | None = None,
        target: str | None = None,
        vantage_point: str | None = None,
        asn: int | str | None = None,
    ) -> pa.Table:
        """Traces that it keeps, by vantage point, target and start; all that is given must fit.

        Three for each link and each address, from different vantage points, or all
        (``ingest --keep-traces``).

        Parameters
        ----------
        address : str, optional
            On the router of this address, or of those of a prefix.
        link : pair of str, optional
            From the router of the one address right to that of the other.
        ingress : str, optional
            Into an AS by the router of this address.
        target, vantage_point : str, optional
            Aimed at, or from, an address or a prefix.
        asn : int or str, optional
            Across an AS: 64496, "64496" or "AS64496".

        Returns
        -------
        pyarrow.Table
            One row per trace: ``vantage``, ``target``, ``started``, ``input``, ``reached``,
            ``further``, ``classic``, and lists with one value per hop that answered: ``ttl``,
            ``addr``, ``asn``, ``rtt_ms``, ``labelled``, ``reply``.

        Raises
        ------
        UsageError
            If the snapshot kept no traces.
        ValueError
            If a text is no address or no AS number, and for a link that is not two of them.
        """
        from pipeline.stages.contents.traces import Wanted, find_traces

        number = None if asn is None else _as_number(asn)
        if asn is not None and number is None:
            raise ValueError(f"{asn!r} is not an AS number")
        if link is not None and (isinstance(link, str) or len(link) != 2):
            raise ValueError(
                f"link={link!r}: give the two addresses, as in ('192.0.2.1', '192.0.2.9')"
            )
        wanted = Wanted(address, link, ingress, target, vantage_point, number)
        return find_traces(self._stored, wanted)

    def paths(self, address: str) -> pa.Table:
        """Paths across the router of an address, an ingress say; those of most traces first.

        Of all traces, not only of those that are kept. One row per path: ``vantage``, ``target``,
        ``n_traces``, ``n_hops``, ``reached``, ``rtt_ms``, and ``path``: the routers that answered,
        null for a gap between two.

        Raises
        ------
        UsageError
            If the snapshot has no such address, or keeps no paths.
        """
        from pipeline.stages.contents.paths import paths_through

        return paths_through(self._stored, address)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw its ASes and the links between them by matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn into; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The 150 ASes with the most traces: area by nodes, width of lines by traces, or by links
            where the snapshot has no traces.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed; it says how to get it.
        """
        from hopscope.plots import plot_snapshot

        return plot_snapshot(self, ax)

    def close(self) -> None:
        """Let a writer remove this version once it is replaced; it can be read until then."""
        self._stored.close()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _place(self) -> tuple[object, ...]:
        return (self._stored.address,)

    def __repr__(self) -> str:
        return f"Snapshot({self.name!r}: {_counts(self._stored)})"

    def _repr_html_(self) -> str:
        stored = self._stored
        most = np.argsort(-stored.n_nodes, kind="stable")[:N_SHOWN]
        nouns = node_words(stored.kind).nouns
        columns = (stored.asn, None, stored.n_nodes, stored.n_edges, stored.n_ingresses)
        rows = [
            [stored.as_name[row] if c is None else f"{c[row]:,}" for c in columns] for row in most
        ]
        for row, i in zip(rows, most, strict=True):
            row[0] = f"AS{stored.asn[i]}"
        title = f"Snapshot {self.name}: {_counts(stored)}"
        return _html(title, ("AS", "name", nouns, "links", "ingresses"), rows)


class AutonomousSystem(_Placed):
    """One AS of a snapshot: its graph, who enters and leaves where, and what was measured.

    The same AS of equal snapshots is equal.

    Attributes
    ----------
    asn : int
    name : str
        Empty where none is known.
    n_nodes, n_edges : int
    node_kind : str
        What a node is: ``interface``, ``router``, ``as``.
    """

    def __init__(self, stored: StoredSnapshot, row: int, reports: Path | None = None):
        from pipeline.model.measured.origins import origins_of

        self._stored, self._row, self._reports = stored, row, reports
        self.asn = int(stored.asn[row])
        self.name = stored.as_name[row]
        self.n_nodes, self.n_edges = int(stored.n_nodes[row]), int(stored.n_edges[row])
        origins = origins_of(stored.manifest, stored.asn)
        self.node_kind = origins.kind_of(origins.source_of(self.asn))

    @cached_property
    def graph(self) -> CSRGraph:
        """Its graph; with weights if every link has one."""
        from kernels import CSRGraph

        graph = self._stored.graph(self._row, weights=True)
        if graph.weights is None or not np.isnan(graph.weights).any():
            return graph
        return CSRGraph(graph.indptr, graph.indices, trusted=True)

    @cached_property
    def nodes(self) -> pa.Table:
        """One row per node, by id: ``addr``, and ``role`` (ingress, candidate, silent or empty)."""
        from pipeline.stages.contents.access import node_table

        return node_table(self._stored, self._row)

    @cached_property
    def addresses(self) -> list[str | None]:
        """Address of each node (None for a silent router), or its id in the input."""
        return self.nodes["addr"].to_pylist()

    @cached_property
    def all_addresses(self) -> pa.Table:
        """One row per address: ``node``, ``addr``; routers have several."""
        from pipeline.stages.contents.access import addresses_by_node

        return addresses_by_node(self._stored, self._row)

    @cached_property
    def edges(self) -> pa.Table:
        """One row per edge: its ends, their addresses, weight, and optional columns of links."""
        from pipeline.stages.contents.access import edge_table

        return edge_table(self._stored, self._row)

    @cached_property
    def ingresses(self) -> pa.Table:
        """One row per ingress; with results where the last report has them."""
        from pipeline.stages.contents.access import ingress_table

        return ingress_table(self._stored, self._reports, self.asn)

    @property
    def about(self) -> dict[str, Any]:
        """``snapshot``, ``asn``, ``name``, ``node_kind``, ``weight_unit``: of what graph it is."""
        return {
            "snapshot": self._stored.name,
            "asn": self.asn,
            "name": self.name,
            "node_kind": self.node_kind,
            "weight_unit": self._stored.weight_unit,
        }

    @property
    def sources(self) -> np.ndarray:
        """Nodes by which traces enter, candidates left out; (n,) int32, for ``kernels.msbfs``."""
        found = self._stored.ingresses(np.array([self._row]))
        return found.node[~found.candidate]

    @cached_property
    def exits(self) -> pa.Table:
        """One row per exit."""
        from pipeline.stages.contents.access import exit_table

        return exit_table(self._stored, np.array([self._row]))

    @cached_property
    def as_links(self) -> pa.Table:
        """One row per linked AS."""
        from pipeline.stages.contents.access import as_link_table

        return as_link_table(self._stored, np.array([self._row]))

    @cached_property
    def measures(self) -> pa.Table:
        """Its row of ``ases.parquet`` in the last report, else what the snapshot counts."""
        from pipeline.stages.contents.access import as_table

        return as_table(self._stored, self._reports, self.asn)

    def plot(self, kind: str = "hops", ax: Axes | None = None) -> Axes:
        """Draw it by matplotlib.

        Parameters
        ----------
        kind : str
            ``"hops"``: pairs of an ingress and a node that it reaches, by hops; ``"layers"``: its
            graph, each node at its hops from the nearest ingress.
        ax : matplotlib.axes.Axes, optional
            Drawn into; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed; it says how to get it.
        UsageError
            If it has no ingress, for hops, or too many links, for layers.
        """
        from hopscope.plots import plot_as

        return plot_as(self, kind, ax)

    @property
    def _place(self) -> tuple[object, ...]:
        return self._stored.address, self.asn

    def __repr__(self) -> str:
        return f"AutonomousSystem({self._title()})"

    def _repr_html_(self) -> str:
        (row,) = self.measures.to_pylist()
        known = [(key, value) for key, value in row.items() if value is not None]
        plain = [(key, value) for key, value in known if not isinstance(value, list)]
        return _html(self._title(), ("measure", "value"), plain)

    def _title(self) -> str:
        stored, row = self._stored, self._row
        counts = [
            nodes_text(self.n_nodes, self.node_kind, int(stored.n_silent[row])),
            number(self.n_edges, "link"),
            ingresses_text(int(stored.n_ingresses[row]), int(stored.n_candidates[row])),
        ]
        return f"AS{self.asn} {self.name}".rstrip() + f": {', '.join(counts)}"


def _counts(stored: StoredSnapshot) -> str:
    return ", ".join(
        [
            number(stored.n_ases, "AS"),
            nodes_text(int(stored.n_nodes.sum()), stored.kind, int(stored.n_silent.sum())),
            links_text(int(stored.n_edges.sum()), stored.manifest.get("n_border_links")),
            ingresses_text(int(stored.n_ingresses.sum()), int(stored.n_candidates.sum())),
        ]
    )


def _html(title: str, header: tuple[str, ...], rows: list) -> str:
    """A table for notebooks; texts of inputs are escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<b>{escape(title)}</b><table><tr>{head}</tr>{body}</table>"
