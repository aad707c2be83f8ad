"""Which events of a night are worth a notice: pure, on rows of events.parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.compare.events import DRIFTS
from pipeline.config import NotifyConfig

Event = Mapping[str, Any]
GROWN = 2  # times as many traces: an event that was reported is news again


@dataclass(frozen=True)
class Chosen:
    """Events to report, most traces first; ``n_known``: others, of which earlier notices told."""

    events: Sequence[Event] = ()
    n_known: int = 0


def choose(
    events: Iterable[Event],
    earlier: Iterable[Iterable[Event]],
    config: NotifyConfig,
    asns: frozenset[int] | None = None,
) -> Chosen:
    """Events that a config asks for and of which no notice of the last nights told.

    An event is known if one of the same kind at the same ASes was reported on one of these nights,
    and did not touch less than half of its traces. What was reported follows from their events, so
    a run that was killed, or another machine, changes nothing.

    Parameters
    ----------
    events : iterable of mappings
        Of the night, as in events.parquet, most traces first.
    earlier : iterable of iterables of mappings
        Of nights before it, the oldest first.
    config : NotifyConfig
    asns : frozenset of int or None
        ASes that it asks for; None: all.
    """
    told: dict[tuple, int] = {}
    for night in earlier:
        _news(night, told, config, asns)
    news, n_known = _news(events, told, config, asns)
    return Chosen(news, n_known)


def _news(
    events: Iterable[Event],
    told: dict[tuple, int],
    config: NotifyConfig,
    asns: frozenset[int] | None,
) -> tuple[list[Event], int]:
    """Events of one night that are news, and how many are not; ``told`` learns of them."""
    news: list[Event] = []
    n_known = 0
    before = dict(told)  # two events of a night may have the same ASes
    for event in events:
        if len(news) == config.notify_first:
            break
        if not _is_wanted(event, config, asns):
            continue
        key = (event.get("kind"), event.get("asn"), event.get("other_asn"))
        is_known = key in before and event["n_traces"] < max(1, GROWN * before[key])
        if config.notify_again and is_known:
            n_known += 1
        else:
            news.append(event)
            told[key] = max(told.get(key, 0), event["n_traces"])
    return news, n_known


def _is_wanted(event: Event, config: NotifyConfig, asns: frozenset[int] | None) -> bool:
    """Whether a config asks for an event, or for what one that flaps did on this night.

    No trace shows a drift, so who names it gets it.
    """
    kinds = {event.get("kind"), event.get("turn")}
    is_seen = event["n_traces"] >= config.notify_traces
    return (
        (is_seen or (event.get("kind") == DRIFTS and DRIFTS in config.notify_kind))
        and (not config.notify_kind or not kinds.isdisjoint(config.notify_kind))
        and (asns is None or event.get("asn") in asns or event.get("other_asn") in asns)
    )
