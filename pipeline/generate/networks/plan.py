"""What a network is drawn by: shares and sizes, and the kinds that are named."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pipeline.model.words import number

Range = tuple[int, int]
METHODS = ("icmp-echo-paris", "icmp-paris", "udp-paris", "icmp-echo", "udp")
MOST_ASES, MOST_ROUTERS = 300_000, 5000
_NO_SHARES = ("name", "seed")
_TEXTS = {"exchange_announced": ("none", "ixp", "member"), "methods": METHODS}
_WORDS = {float: "a share from 0 to 1", bool: "true or false"}
_SUCH_AS = {float: "0.4,0.4", int: "2,4"}
_LEAST = {"diamonds": 1, "ipv6_lengths": 64, "n_vantage_points": 1}
_MOST = {"diamonds": 64, "ipv6_lengths": 127, "attachment": 100}


@dataclass(frozen=True)
class Plan:
    """A network in numbers; shares are between 0 and 1."""

    name: str = "plain"
    seed: int = 1

    # ASes
    n_tier1: int = 4
    n_transit: int = 10
    n_regional: int = 22
    n_stub: int = 85
    n_cloud: int = 0
    # relationships by tiers drawn evenly, or by laws that were measured (``ases``)
    relationships: Literal["tiers", "measured"] = "tiers"
    attachment: int = 0  # links that a new AS, or router of an AS, brings; 0: tiers, rings, trees
    policy: bool = True  # routes follow relationships; else ways over the fewest ASes
    multihomed: float = 0.45  # of regional ASes and stubs
    second_link: float = 0.3  # of neighbors, at other routers
    siblings: int = 0  # regional ASes that number from the space of a transit AS of their owner
    siblings_announce: bool = True  # ... which also announces half of theirs

    # routers, from least to most in an AS
    tier1: Range = (10, 16)
    transit: Range = (5, 10)
    regional: Range = (3, 6)
    stub: Range = (2, 4)
    cloud: Range = (14, 22)
    single_router: float = 0.6  # of stubs
    diamonds: tuple[int, ...] = ()  # widths of ECMP inside tier 1 and transit ASes
    uneven: bool = True  # every third branch of a diamond is one router longer

    # numbering
    from_provider: float = 0.85  # links to customers that are numbered by the provider
    from_peer: Literal["either", "lower", "higher"] = (
        "either"  # AS that numbers a link between peers
    )
    slash31: float = 0.4  # of ASes; the others number links from /30
    ipv6: bool = False
    ipv6_lengths: tuple[int, ...] = (127, 126, 64)
    private_inside: float = 0.0  # ASes, stubs apart, whose inner links are numbered from 10/8
    private_is_shared: bool = True  # by the same numbers in every AS
    unannounced: float = 0.0  # transit and regional ASes whose infrastructure is not announced
    multi_origin: float = 0.0  # stubs whose prefix a provider originates, too
    from_aggregate: float = 0.0  # single-homed stubs in a prefix that only their provider announces
    packed: bool = False  # links at random places of one densely used block of the AS
    stale_origins: float = 0.0  # prefixes that the table gives to another AS
    second_origins: float = 0.0  # prefixes, or half of them, that the table gives to another, too
    leaked: int = 0  # infrastructure prefixes that a neighbor originates

    # exchange points, one each
    exchange_members: tuple[float, ...] = ()
    exchange_peering: float = 0.5  # pairs of members
    exchange_announced: tuple[str, ...] = ("none", "ixp", "member")  # by whom, in turn

    # routers' answers
    silent: float = 0.05
    limited: float = 0.12
    limited_answers: float = 0.5
    outgoing: float = 0.06  # respond with the interface toward the vantage point
    loopback: float = 0.03
    tunnels: float = 0.0  # large ASes whose inner routers MPLS hides
    ultimate_hop: float = 0.0  # ... of these, with ultimate-hop popping: the next hop shows twice
    zero_ttl: float = 0.0  # routers that forward packets whose TTL is 0

    # edges
    blocks: tuple[int, int, int, int, int] = (2, 2, 3, 4, 5)  # of stub, regional, transit, ...
    hosts_answer: float = 0.35
    rewriting: float = 0.0  # stubs whose border answers with the destination's address
    zombies: float = 0.0  # dead blocks whose gateway repeats "host unreachable"
    loops: float = 0.0  # dead blocks of stubs: packets go back and forth to the provider
    carrier_nat: float = 0.0  # stubs and regional ASes with private hops before their customers
    anycast: bool = False  # half of the blocks of clouds, delivered at several routers
    firewalled: float = 0.0  # stubs that let no probe in, and of which nothing answers
    only_border: float = 0.0  # of the others: stubs of which the border alone answers

    # measuring
    n_vantage_points: int = 12
    vantage_in_cloud: bool = False
    vantage_behind_nat: bool = False
    targets: Literal["hosts", "vantages too", "routers"] = "hosts"  # ... and vantage points
    # each by all vantage points; "one/other": they have one of these each, in turn
    methods: tuple[str, ...] = ("icmp-echo-paris",)
    rebalanced: float = 0.0  # pairs whose flow is another one every night

    # host names of interfaces
    named: float = 0.7  # ASes that name their routers' addresses
    stale_names: float = 0.1  # names of what the address was used for before


SHARES = tuple(each.name for each in fields(Plan) if each.name not in _NO_SHARES)
_LAB: dict[str, Any] = {  # the laws of the laboratories that were built with real routers
    "n_regional": 20,
    "n_stub": 60,
    "multihomed": 0.4,
    "siblings_announce": False,
    "from_provider": 0.95,
    "slash31": 0.3,
    "private_is_shared": False,
    "silent": 0.04,
    "limited": 0.08,
    "outgoing": 0.10,
    "targets": "vantages too",
    "methods": ("icmp-paris", "udp-paris"),
}
_REALISTIC: dict[str, Any] = {
    "n_regional": 24,
    "n_stub": 90,
    "n_vantage_points": 16,
    "exchange_members": (0.4, 0.4),
    "exchange_announced": ("none", "ixp"),
    "silent": 0.06,
    "limited": 0.15,
    "outgoing": 0.05,
    "loopback": 0.02,
    "private_inside": 0.08,
    "multi_origin": 0.04,
    "unannounced": 0.06,
    "siblings": 3,
    "slash31": 0.4,
    "single_router": 0.65,
}
_HARSH: dict[str, Any] = {
    "silent": 0.15,
    "limited": 0.25,
    "private_inside": 0.25,
    "multi_origin": 0.25,
    "unannounced": 0.10,
    "siblings": 5,
    "exchange_members": (0.4, 0.4),
    "exchange_announced": ("none", "ixp"),
    "outgoing": 0.15,
    "loopback": 0.05,
}
_BRITE: dict[str, Any] = {  # BRITE's top-down model, both levels by preferential attachment
    "n_tier1": 0,
    "n_transit": 12,
    "n_regional": 0,
    "n_stub": 0,
    "transit": (7, 21),
    "attachment": 2,
    "second_link": 0.5,
    "policy": False,
    "from_peer": "lower",
    "slash31": 0.0,
    "limited": 0.10,
    "outgoing": 0.20,
    "loopback": 0.0,
    "targets": "routers",
}
_BIG: dict[str, Any] = {
    "n_tier1": 10,
    "n_transit": 70,
    "n_regional": 260,
    "n_stub": 1200,
    "n_cloud": 6,
    "tier1": (40, 70),
    "transit": (14, 30),
    "regional": (5, 11),
    "cloud": (30, 50),
    "exchange_members": (0.25, 0.2, 0.15, 0.1, 0.1),
    "exchange_peering": 0.25,
    "n_vantage_points": 30,
    "blocks": (1, 1, 1, 2, 2),
    "unannounced": 0.04,
    "multi_origin": 0.03,
    "siblings": 6,
    "tunnels": 0.15,
    "private_inside": 0.05,
}
_INTERNET: dict[str, Any] = _BIG | {  # 10,000 ASes, 60,000 routers, two million traces
    "n_tier1": 14,
    "n_transit": 400,
    "n_regional": 1600,
    "n_stub": 7980,
    "tier1": (150, 230),
    "transit": (42, 84),
    "regional": (6, 15),
    "cloud": (80, 120),
    "exchange_members": (0.12, 0.1, 0.08, 0.06, 0.05),
    "exchange_peering": 0.08,
    "n_vantage_points": 100,
    "blocks": (2, 2, 2, 4, 4),
    "siblings": 40,
}
MEASURED = "internet"  # the kind that has the Internet's own laws
_MEASURED: dict[str, Any] = _INTERNET | {  # the Internet's own laws, of any number of ASes
    "relationships": "measured",
    "exchange_peering": 0.0,  # those who peer are drawn already
    "second_link": 0.15,
    "zero_ttl": 0.01,
    "zombies": 0.05,
    "loops": 0.1,
    "rewriting": 0.02,
    "carrier_nat": 0.05,
    "firewalled": 0.1,
    "only_border": 0.1,
    "ultimate_hop": 0.2,
    "second_origins": 0.02,
    "from_aggregate": 0.05,
}
_IXP300: dict[str, Any] = {
    "n_transit": 24,
    "n_regional": 120,
    "n_stub": 260,
    "n_cloud": 4,
    "regional": (1, 4),
    "exchange_members": (0.95,),
    "exchange_peering": 0.35,
    "exchange_announced": ("none",),
    "blocks": (1, 1, 2, 2, 3),
    "n_vantage_points": 14,
}
_MIXED = ("icmp-echo-paris/udp",)

KINDS: dict[str, dict[str, Any]] = {
    "brite": _BRITE,
    # the laboratories' laws
    "provider31": _LAB | {"slash31": 1.0, "single_router": 0.7, "n_stub": 70},
    "ixp": _LAB | {"exchange_members": (0.55,) * 3, "exchange_peering": 0.7, "n_stub": 50},
    "customer": _LAB | {"from_provider": 0.0},
    "answers": _LAB | {"outgoing": 0.35, "loopback": 0.10, "n_stub": 50},
    "harsh": _LAB | _HARSH,
    "realistic": _LAB | _REALISTIC,
    # other laws: policy routing, every router's answers and edges
    "plain": {},
    "ipv6": {"ipv6": True, "exchange_members": (0.4,), "loopback": 0.08},
    "mpls": {"tunnels": 0.7},
    "mpls_ultimate": {"tunnels": 0.7, "ultimate_hop": 1.0},
    "ecmp": {"diamonds": (2, 3, 4, 8, 16), "n_stub": 70},
    "ecmp_classic": {"diamonds": (2, 3, 4, 8, 16), "methods": ("udp",), "n_stub": 70},
    "classic": {"methods": ("udp",)},
    "mixed": {"methods": _MIXED},
    "ecmp_mixed": {"diamonds": (2, 3, 4, 8, 16), "methods": _MIXED, "n_stub": 70},
    "carrier_nat": {"carrier_nat": 0.6},
    "vantage_nat": {"vantage_behind_nat": True},
    "private_core": {"private_inside": 0.25},
    "rewriting": {"rewriting": 0.2},
    "zero_ttl": {"zero_ttl": 0.04},
    "zombies": {"zombies": 0.15},
    "loops": {"loops": 0.4},
    "anycast": {"n_cloud": 2, "anycast": True},
    "siblings": {"siblings": 5},
    "second_origins": {"second_origins": 0.08},
    "outgoing": {"outgoing": 0.45},
    "dark": {"silent": 0.30, "limited": 0.5},
    # ... and providers with more routers than customers, as large ones have
    "firewalled": {
        "firewalled": 0.3,
        "only_border": 0.3,
        "tier1": (20, 32),
        "transit": (12, 24),
    },
    "packed31": {"slash31": 1.0, "packed": True, "from_provider": 1.0},
    "large_exchange": _IXP300,
    "big": _BIG,
    "big_one_vantage": _BIG | {"n_vantage_points": 1},
    "big_internet": _INTERNET,
    MEASURED: _MEASURED,
}


def make_plan(kind: str, seed: int, words: Iterable[str] = ()) -> Plan:
    """The plan of a kind, with fields changed as by ``field=value``.

    Raises
    ------
    ValueError
        If there is no such kind or field.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    return changed_plan(replace(Plan(name=kind, seed=seed), **KINDS[kind]), words)


def changed_plan(plan: Plan, words: Iterable[str]) -> Plan:
    """A plan with fields changed as by ``field=value``.

    Ranges are written ``least-most``, several values ``a,b``.

    Raises
    ------
    ValueError
        If there is no such field, it does not take this value, or it is there twice.
    """
    changed: set[str] = set()
    known = _kinds_of_fields()
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            why = "there is no such field" if equals else "not field=value"
            raise ValueError(f"{word}: {why}; fields are {', '.join(sorted(known))}")
        if name in changed:
            raise ValueError(f"{word}: {name} is given twice")
        changed.add(name)
        plan = replace(plan, **{name: _value(name, text, known[name])})
    return plan


@cache
def _kinds_of_fields() -> dict[str, Any]:
    hints = get_type_hints(Plan)
    return {name: hints[name] for name in SHARES}


def _value(name: str, text: str, kind: Any) -> Any:
    """A field's value; ValueError says what it takes."""
    parts = _parts(text)
    if get_origin(kind) is tuple:
        each, *others = get_args(kind)
        n = len(parts) if Ellipsis in others else 1 + len(others)
        is_right = len(parts) == n and all(_fits(part, each, name) for part in parts)
        if not is_right or (kind == Range and not 1 <= parts[0] <= parts[1] <= MOST_ROUTERS):
            such_as = ",".join(map(str, getattr(Plan, name))) or _SUCH_AS[each]
            most = MOST_ROUTERS if kind == Range else None
            takes = f"{such_as}, each {_takes(each, name, most)}"
            raise ValueError(f"{name} takes values like {takes}, not {text!r}")
        return parts
    value = parts[0] if len(parts) == 1 else text
    if kind is bool and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if get_origin(kind) is Literal and value in get_args(kind):
        return value
    if kind in (int, float) and _fits(value, kind, name):
        return kind(value)
    takes = ", ".join(get_args(kind)) or _takes(kind, name)
    raise ValueError(f"{name} takes {takes}, not {text!r}")


def _takes(kind: Any, name: str, most: int | None = None) -> str:
    """What a value may be, in words."""
    if kind is str:
        return f"one of {', '.join(_TEXTS[name])}"
    if kind is not int:
        return _WORDS[kind]
    least = 1 if most else _LEAST.get(name, 0)
    return f"a whole number from {least} to {most or _MOST.get(name, MOST_ASES)}"


def _parts(text: str) -> tuple[Any, ...]:
    """The values that a text lists, ``a,b`` or ``least-most``; others are words."""
    for form in (text, text.replace("-", ",")):
        try:
            value = ast.literal_eval(form)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value if isinstance(value, tuple) else (value,)
    return tuple(text.split(",")) if text else ()


def _fits(value: Any, kind: Any, name: str) -> bool:
    if kind is str:
        words = str(value).split("/") if name == "methods" else [value]
        return all(word in _TEXTS[name] for word in words)
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        return False
    most = 1 if kind is float else _MOST.get(name, MOST_ASES)
    return _LEAST.get(name, 0) <= value <= most


def sized(plan: Plan, n_ases: int) -> Plan:
    """A plan with another number of ASes: as many of each tier, in proportion.

    Raises
    ------
    ValueError
        If there would be too few of a tier.
    """
    if plan.relationships == "measured":
        n_tier1 = min(14, max(3, n_ases // 200))
        n_transit, n_regional = max(2, round(0.025 * n_ases)), max(3, round(0.12 * n_ases))
        n_cloud = max(1, n_ases // 2000) if n_ases >= 100 else 0
    else:
        whole = plan.n_tier1 + plan.n_transit + plan.n_regional + plan.n_stub + plan.n_cloud
        n_tier1, n_transit, n_regional, n_cloud = (
            max(bool(n), round(n * n_ases / whole))
            for n in (plan.n_tier1, plan.n_transit, plan.n_regional, plan.n_cloud)
        )
        n_tier1 = min(n_tier1, 14)
        if not plan.n_stub:
            n_transit = n_ases - n_tier1 - n_regional - n_cloud
    n_stub = n_ases - n_tier1 - n_transit - n_regional - n_cloud
    if n_ases > MOST_ASES or n_stub < bool(plan.n_stub) or n_transit < 1:
        raise ValueError(
            f"{number(n_ases, 'AS')} of kind {plan.name}: from 12 to {MOST_ASES:,} are made"
        )
    return replace(
        plan,
        n_tier1=n_tier1,
        n_transit=n_transit,
        n_regional=n_regional,
        n_stub=n_stub,
        n_cloud=n_cloud,
        siblings=min(plan.siblings, n_regional // 10 if plan.n_regional else 0),
    )
