"""What host names say about whose router an address is on, by rules that others learned."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np

from pipeline.model.addresses import positions_of
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.host_names import HostNames

_APART = re.compile(r"[\s,|]")
_SHORTEST = 3  # letters of a word that is an AS by its name
_NO_ONE = 23456  # AS_TRANS


class Pattern(Protocol):
    """A compiled expression, whose groups hold an AS number or an AS name."""

    def search(self, text: str) -> Any:
        """A match with ``groups()``, or None."""


class NameRule(NamedTuple):
    """Patterns of one domain, of which the first that fits counts, and how often they were right.

    ``nats``: log-odds that what they say is right, after ``right`` and ``wrong`` names, one more of
    each taken as seen.
    """

    patterns: tuple[Pattern, ...]
    right: int
    wrong: int

    @property
    def nats(self) -> float:
        return log((self.right + 1) / (self.wrong + 1))


@dataclass(frozen=True, eq=False)
class NameRules:
    """Rules by the domain that names end in, ``example.net``."""

    of_domain: Mapping[str, NameRule]

    def read(self, name: str) -> tuple[str, float] | None:
        """What a host name says, digits or a word, and its nats; None: nothing.

        The longest domain with a rule counts, as Hoiho's own program has it.
        """
        name = name.lower()
        domain = name
        while domain:
            rule = self.of_domain.get(domain)
            for pattern in rule.patterns if rule else ():
                if found := pattern.search(name):
                    said = next((each for each in found.groups() if each), "")
                    return (said, rule.nats) if said else None  # type: ignore[union-attr]
            domain = domain.partition(".")[2]
        return None


def words_of_ases(*names: Mapping[int, str]) -> dict[str, list[int]]:
    """ASes by words that stand for them in host names: lower-case letters and digits.

    Of ``EXAMPLE-NET-AS Example Ltd`` these are ``examplenetas``, ``examplenet`` and ``example``.
    """
    found: dict[str, set[int]] = defaultdict(set)
    for asn, name in (entry for each in names for entry in each.items()):
        parts = re.findall(r"[a-z0-9]+", _APART.split(name.strip().lower(), maxsplit=1)[0])
        named = [part for part in parts if part not in ("as", "asn")]
        for word in {"".join(parts), "".join(named), *named[:1]}:
            if len(word) >= _SHORTEST and not word.isdigit():
                found[word].add(asn)
    return {word: sorted(ases) for word, ases in found.items()}


@dataclass(frozen=True, eq=False)
class NamedOwners:
    """ASes that the host names of addresses say, sorted by address.

    Attributes
    ----------
    addr : (n, 2) uint64
    asn : (n,) int64
        A word may stand for several ASes: a row each.
    nats : (n,) float64
        Log-odds that it is right, by its rule.
    name : (n,) int64
        Equal for equal host names.
    """

    addr: np.ndarray
    asn: np.ndarray
    nats: np.ndarray
    name: np.ndarray

    @classmethod
    def read(
        cls, names: HostNames, rules: NameRules, words: Mapping[str, Iterable[int]]
    ) -> NamedOwners:
        """Apply rules to names; ``words``: as from ``words_of_ases``."""
        at, asns, nats, kinds = [], [], [], []
        numbers: dict[str, int] = {}
        for row, name in enumerate(names.name):
            said = rules.read(name)
            if said is None:
                continue
            for asn in _ases(said[0], words):
                at.append(row)
                asns.append(asn)
                nats.append(said[1])
                kinds.append(numbers.setdefault(name.lower(), len(numbers)))
        return cls(
            names.addr[np.array(at, np.int64)],
            np.array(asns, np.int64),
            np.array(nats, np.float64),
            np.array(kinds, np.int64),
        )

    def find(self, addrs: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, ...]:
        """What names say of some addresses, where that is one of some ASes and no other of them.

        Parameters
        ----------
        addrs : (n, 2) uint64, sorted, distinct
        known : (n_ases,) int64

        Returns
        -------
        position : (n_found,) int64
            In ``addrs``, ascending.
        asn, nats, name : (n_found,)
        """
        at = positions_of(addrs, self.addr)
        rows = np.flatnonzero((at >= 0) & np.isin(self.asn, known))
        alone = np.bincount(at[rows], minlength=len(addrs))[at[rows]] == 1
        rows = rows[alone]
        return at[rows], self.asn[rows], self.nats[rows], self.name[rows]


def _ases(said: str, words: Mapping[str, Iterable[int]]) -> Iterable[int]:
    if not said.isdecimal():
        return words.get("".join(re.findall(r"[a-z0-9]+", said)), ())
    asn = int(said) if len(said) <= 10 else 0
    return (asn,) if 0 < asn <= MAX_ASN and asn != _NO_ONE else ()
