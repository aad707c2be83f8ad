"""Rules that read ASes from host names, as CAIDA's Hoiho writes them; JSON lines.

One domain a line [1]_ (``sc_hoiho -O learnasn -O json -d best-regex``, and ``learnasnames``)::

    {"domain": "example.net", "re": ["^as(\\\\d+)-.+\\\\.example\\\\.net$"],
     "score": {"ppv": "0.950", "asn": 12, "tp": 57, "fp": 3, "ip": 0, "class": "good"}}

``re``: patterns in turn, whose groups hold the AS number or name; ``tp``: names in which that is
the AS of the router, ``fp`` and ``ip``: those in which it is another, or part of an address. As
Hoiho's own program does, only rules of class ``good`` and ``promising`` are used. Rules of places
(``plan``, ``geohints``: read by ``tables.locations``) and of names of routers (``rt`` in the score)
say nothing about ASes.

Patterns are text of others, which ``ingest.text.patterns`` compiles.

References
----------
.. [1] M. Luckie et al., "Learning to extract and use ASNs in hostnames", IMC 2020; M. Luckie et
   al., "Learning regexes to extract network names from hostnames", AINTEC 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pipeline.ingest.tables.lines import Blocks, read_lines
from pipeline.ingest.text.patterns import compile_pattern
from pipeline.json_text import parse_json
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.named_owners import NameRule, NameRules

CLASSES = ("good", "promising")
_MAX_PATTERNS = 100  # of a domain
_MOST = 10**9  # names that a rule was counted on


def read_name_rules(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> NameRules:
    """Read the rules of several files; of several for one domain the one right more often counts.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file.
    reports : sequence of ReadReport
        One for each file, filled: rules as ``n_records``, broken ones by reason. A file that cannot
        be read, is cut short or has no rule has status ``rejected`` or ``partial`` and says why in
        ``error``; nothing is raised for it.
    """
    found: dict[str, NameRule] = {}
    for blocks, report in zip(files, reports, strict=True):
        for place, line in read_lines(blocks, report):
            if line.startswith("#"):
                continue
            try:
                entry = _read_rule(parse_json(line), report)
            except orjson.JSONDecodeError:
                report.reject(place, "not valid JSON", line[:60])
                continue
            except ValueError as error:
                report.reject(place, str(error), line[:60])
                continue
            if entry is None:
                continue
            domain, rule = entry
            report.n_records += 1
            if domain in found:
                report.notes["domains with several rules"] += 1
                rule = max(rule, found[domain], key=lambda each: each.nats)
            found[domain] = rule
        if not report.n_records and not report.skipped:
            report.refuse_empty("no rule in it; give lines of JSON as sc_hoiho writes them")
    return NameRules(found)


def _read_rule(row: Any, report: ReadReport) -> tuple[str, NameRule] | None:
    """Domain and rule; None: not one that is used; ValueError with a fixed phrase."""
    if not isinstance(row, dict) or not row:
        raise ValueError("not a JSON object with entries")
    domain, texts, score = row.get("domain"), row.get("re"), row.get("score")
    if not isinstance(domain, str) or not domain.strip("."):
        raise ValueError("no domain")
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise ValueError("no patterns")
    if not isinstance(score, dict) or not score:
        raise ValueError("no score")
    if "plan" in row or "geohints" in row or "geo" in score:
        report.skip("rules of places")
        return None
    if "rt" in score:
        report.skip("rules of routers' names")
        return None
    right, wrong = _count(score, "tp"), _count(score, "fp") + _count(score, "ip", 0)
    if score.get("class") not in CLASSES:
        right = min(right, _count(score, "asn", 1))
    if right <= wrong:
        report.skip("rules that are wrong as often as right")
        return None
    if len(texts) > _MAX_PATTERNS:
        raise ValueError(f"more than {_MAX_PATTERNS} patterns")
    return domain.strip(".").lower(), NameRule(tuple(map(compile_pattern, texts)), right, wrong)


def _count(score: dict[str, Any], name: str, absent: int | None = None) -> int:
    value = score.get(name, absent)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError(f"{name} of the score is not a count")
    return value
