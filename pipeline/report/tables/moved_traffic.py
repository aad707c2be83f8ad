"""Where traffic enters ASes now, in words, of the events of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.compare.changes import GAINED, LOST, MOST_MOVED
from pipeline.model.words import number
from pipeline.report.texts import as_text, share


def traffic_texts(changes: pa.Table, names: Mapping[int, str]) -> dict[int, str]:
    """Where traffic enters now, of the events that it is part of: into the AS of most pairs.

    Parameters
    ----------
    changes : pa.Table
        As in ``changes.parquet``.
    names : mapping of int to str
        Names of ASes.

    Returns
    -------
    dict of int to str
        By event, without a capital at the start; empty where no ingress is known for both nights.
    """
    of_event = pc.and_(pc.is_valid(changes["event"]), pc.equal(changes["what"], "traffic"))
    found: dict[int, dict[int, list[dict]]] = {}
    for row in changes.filter(of_event).to_pylist():
        found.setdefault(row["event"], {}).setdefault(row["asn"], []).append(row)
    return {event: _entries_text(list(rows.values()), names) for event, rows in found.items()}


def _entries_text(ases: list[list[dict]], names: Mapping[int, str]) -> str:
    """Where traffic entered and enters now, of the AS of most pairs; how many others there are."""
    moves = [move for move in map(_Move.of, ases) if move.lost and move.gained]
    if not moves:
        return ""
    most = max(moves, key=lambda move: move.n_pairs)
    text = most.text(names)
    n_others = len(moves) - 1
    return f"{text}; likewise in {number(n_others, 'other AS')}" if n_others else text


@dataclass(frozen=True)
class _Move:
    """Traffic of one AS: the ingresses that lost and gained it, those of most pairs first.

    Others than those most of whose pairs moved count only as where these went to or came from.
    """

    lost: list[dict]
    gained: list[dict]
    is_left: bool  # an ingress lost most of its traffic; else one gained most of it
    n_pairs: int

    @classmethod
    def of(cls, rows: list[dict]) -> _Move:
        by_pairs = sorted(rows, key=lambda row: -row["n_pairs"])
        lost, gained = ([r for r in by_pairs if r["kind"] == kind] for kind in (LOST, GAINED))
        left, came = ([r for r in part if r["reason"] == MOST_MOVED] for part in (lost, gained))
        n_pairs = sum(row["n_pairs"] for row in left or came)
        return cls(left or lost, gained if left else came, bool(left), n_pairs)

    def text(self, names: Mapping[int, str]) -> str:
        """In words, without a capital at the start."""
        into = as_text((self.lost + self.gained)[0]["asn"], names)
        one = _ingresses(self.lost, names, is_told=self.is_left)
        other = _ingresses(self.gained, names, is_told=not self.is_left)
        of = (self.lost if self.is_left else self.gained)[0]
        shares = " to ".join(share(round(1e6 * of[name]), 10**6) for name in ("old", "new"))
        went, pairs = f"whose share went from {shares}", number(self.n_pairs, "pair")
        if len(self.lost if self.is_left else self.gained) > 1:
            pairs += " in all"
        if self.is_left:
            return f"traffic enters {into} {other} instead of {one}, {went}: {pairs}"
        return f"a part of the traffic enters {into} {other}, {went}, and no longer {one}: {pairs}"


def _ingresses(rows: list[dict], names: Mapping[int, str], is_told: bool) -> str:
    """Where traffic enters: the ingress of most pairs, and how many others.

    ``is_told``: its share follows, so it comes last.
    """
    text = f"at {rows[0]['addr']} from {as_text(rows[0]['other_asn'], names)}"
    n_others = len(rows) - 1
    others = f"at {number(n_others, 'other ingress')}"
    both = f"{others} and {text}" if is_told else f"{text} and {others}"
    return both if n_others else text
