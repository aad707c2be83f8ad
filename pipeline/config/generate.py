"""Options of ``generate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pipeline.config import completing
from pipeline.config.shared import asn_option, ingresses_option, snapshot_option, store_option
from pipeline.config.values import bandwidth_law, given_as_number, snapshot_name, weight_law
from pipeline.errors import UsageError
from pipeline.generate import (
    MODELS,
    flat_models,
    is_brite,
    models_named,
    models_that_take,
    most_links,
)
from pipeline.generate.networks.plan import (
    KINDS,
    MEASURED,
    SHARES,
    Plan,
    changed_plan,
    make_plan,
    sized,
)
from pipeline.generate.networks.planting.orders import (
    PLANTED_SHARES,
    PLANTS,
    Order,
    parse_order,
)
from pipeline.model.choices import ADJACENCY_SUFFIX
from pipeline.model.synthetic import (
    ASSIGNMENTS,
    BANDWIDTHS,
    EDGE_CONNECTIONS,
    GROUPINGS,
    GROWTHS,
    LEVELS,
    MAX_LINKS,
    MAX_SEED,
    MAX_SIDE,
    PLACEMENTS,
    Parameters,
)
from pipeline.options import option
from pipeline.places import folder_of

_OF_ONE_AS = ", ".join(name for name, model in MODELS.items() if "n_ases" not in model.options)
_WITHOUT_INGRESSES = ", ".join(name for name, model in MODELS.items() if not model.makes_graphs)


def _plants_begun(given: Mapping[str, Any], begun: str) -> tuple[str, ...]:
    return (*(f"{kind}@" for kind in PLANTS), *(f"{name}=" for name in PLANTED_SHARES))


def _shares_begun(given: Mapping[str, Any], begun: str) -> tuple[str, ...]:
    return tuple(f"{name}=" for name in SHARES)


TraceFormat = Literal["scamper", "warts"]
MAX_TRACES, MAX_VANTAGE_POINTS, MAX_NIGHTS = 1_000_000_000, 4096, 366
# Options that --traces gives a meaning.
OF_NETWORKS = ("vantage_points", "kind", "share", "nights", "plant", "format")


@dataclass(frozen=True)
class GenerateConfig:
    """What to make and where to put it; exactly one of ``out`` and ``store``.

    Numbers are those of ``Parameters``; ``internet`` puts many ASes of the model side by side.
    """

    model: str | None = option(
        default=None,
        help=f"{models_named()}; none with --like.",
        variable=None,
        metavar="MODEL",
        choices=lambda: tuple(MODELS),
        is_argument=True,
    )
    like: str | None = option(
        default=None,
        help="Snapshot of --store to make a topology in the likeness of: all of it, or --asn N.",
        variable=None,
        metavar="SNAPSHOT",
        parser=snapshot_name,
        completes=completing.snapshots,
    )
    routers: int | None = option(
        default=None,
        help="Total number of routers; needed, unless --config gives it, or --like.",
        variable=None,
        metavar="N",
        unit="routers",
        minimum=1,
        maximum=MAX_LINKS,
    )
    ases: int = option(
        default=Parameters.n_ases,
        help=f"Number of ASes ({models_that_take('n_ases')}) (--like) [those of the snapshot] "
        "(--traces) [those of the kind].",
        variable=None,
        metavar="N",
        unit="ASes",
        minimum=1,
    )
    links: int = option(
        default=Parameters.m,
        help=f"Links of each new router, or drawn per router ({models_that_take('m')}).",
        variable=None,
        metavar="M",
        unit="links",
        minimum=1,
    )
    seed: int = option(
        default=Parameters.seed,
        help="Random seed.",
        variable=None,
        metavar="N",
        minimum=0,
        maximum=MAX_SEED,
    )
    internet: bool = option(
        default=False, help="Many ASes of very different sizes (ba).", variable=None
    )
    min_routers: int | None = option(
        default=None,
        help=f"Size of the smallest AS ({models_that_take('smallest')}) [up to 20].",
        variable=None,
        metavar="N",
        unit="routers",
        minimum=1,
    )
    max_routers: int | None = option(
        default=None,
        help=f"Size of the largest AS ({models_that_take('largest')}) [13.6 % of all, or more].",
        variable=None,
        metavar="N",
        unit="routers",
        minimum=1,
    )
    max_ingresses: int = option(
        default=Parameters.max_ingresses,
        help=f"Maximum number of ingresses per AS ({models_that_take('max_ingresses')}).",
        variable=None,
        metavar="N",
        unit="ingresses",
        minimum=1,
    )
    rows: int | None = option(
        default=None,
        help="Number of rows of a grid [as square as possible].",
        variable=None,
        metavar="N",
        unit="rows",
        minimum=1,
    )
    cut: float = option(
        default=Parameters.cut,
        help="Share of a grid's links to remove.",
        variable=None,
        metavar="SHARE",
        unit="share of links",
        minimum=0,
        maximum=1,
    )
    min_degree: int = option(
        default=Parameters.min_degree,
        help=f"Smallest number of links of a router ({models_that_take('min_degree')}).",
        variable=None,
        metavar="N",
        unit="links",
        minimum=0,
    )
    max_degree: int = option(
        default=Parameters.max_degree,
        help=f"Largest number of links of a router ({models_that_take('max_degree')}).",
        variable=None,
        metavar="N",
        unit="links",
        minimum=0,
    )
    connected: bool = option(
        default=False,
        help=f"Make the graph connected ({models_that_take('connected')}).",
        variable=None,
    )
    growth: str = option(
        default=Parameters.growth,
        help="Whether routers join one by one or are all there at once (Waxman graphs).",
        variable=None,
        metavar="HOW",
        choices=lambda: GROWTHS,
    )
    preferential: bool = option(
        default=False,
        help="Let routers that join prefer those of many links (Waxman graphs).",
        variable=None,
    )
    alpha: float = option(
        default=Parameters.alpha,
        help="Largest probability of a link (Waxman graphs).",
        variable=None,
        metavar="SHARE",
        unit="probability",
        minimum=0,
        maximum=1,
    )
    beta: float | None = option(
        default=None,
        help="How far links reach (Waxman graphs) [0.2]; or how much less routers of few links are "
        "preferred (GLP graphs, below 1) [0.6447].",
        variable=None,
        metavar="NUMBER",
        maximum=1,
    )
    p: float | None = option(
        default=None,
        help="Probability of a step that adds links (BA-2 graphs) [0.25] (GLP graphs) [0.4695].",
        variable=None,
        metavar="SHARE",
        unit="probability",
        minimum=0,
        maximum=1,
    )
    q: float | None = option(
        default=None,
        help="Probability of a step that moves links (BA-2 graphs) [0.25].",
        variable=None,
        metavar="SHARE",
        unit="probability",
        minimum=0,
        maximum=1,
    )
    as_model: str = option(
        default=Parameters.as_model,
        help=f"Model of the graph of ASes ({models_that_take('as_model')}).",
        variable=None,
        metavar="MODEL",
        choices=flat_models,
    )
    router_model: str = option(
        default=Parameters.router_model,
        help=f"Model of the graphs of routers ({models_that_take('router_model')}).",
        variable=None,
        metavar="MODEL",
        choices=flat_models,
    )
    edge_connection: str = option(
        default=Parameters.edge_connection,
        help="Router at which a link between two ASes ends: any, or that of the smallest degree, "
        "of at least 2, or of at least --k (top-down).",
        variable=None,
        metavar="HOW",
        choices=lambda: EDGE_CONNECTIONS,
    )
    k: int = option(
        default=Parameters.k,
        help="Smallest degree of such a router for smallest-k (top-down).",
        variable=None,
        metavar="N",
        unit="links",
        minimum=0,
    )
    grouping: str = option(
        default=Parameters.grouping,
        help="How the routers of an AS are chosen (bottom-up).",
        variable=None,
        metavar="HOW",
        choices=lambda: GROUPINGS,
    )
    assignment: str = option(
        default=Parameters.assignment,
        help="Law of the number of routers of an AS (bottom-up).",
        variable=None,
        metavar="LAW",
        choices=lambda: ASSIGNMENTS,
    )
    level: str = option(
        default=Parameters.level,
        help=f"What a node is: a router, or an AS ({models_that_take('level')}).",
        variable=None,
        metavar="WHAT",
        choices=lambda: LEVELS,
    )
    placement: str = option(
        default=Parameters.placement,
        help="Whether routers lie anywhere or crowd in few squares of the plane "
        f"({models_that_take('placement')}).",
        variable=None,
        metavar="HOW",
        choices=lambda: PLACEMENTS,
    )
    plane_side: int | None = option(
        default=None,
        help="Side of the plane of an AS, BRITE's HS [1000, or twice the root of its routers].",
        variable=None,
        metavar="N",
        unit="cells",
        minimum=1,
        maximum=MAX_SIDE,
    )
    square_side: int | None = option(
        default=None,
        help="Side of the squares of heavy-tailed placement, BRITE's LS [a tenth of the plane's].",
        variable=None,
        metavar="N",
        unit="cells",
        minimum=1,
        maximum=MAX_SIDE,
    )
    bandwidth: str = option(
        default=Parameters.bandwidth,
        help=f"Distribution of bandwidths: {', '.join(BANDWIDTHS.values())}.",
        variable=None,
        metavar="LAW",
        unit="Mbit/s",
        parser=bandwidth_law,
    )
    bandwidth_between: str | None = option(
        default=None,
        help=f"That of links between ASes ({models_that_take('bandwidth_between')}) [the same].",
        variable=None,
        metavar="LAW",
        unit="Mbit/s",
        parser=bandwidth_law,
    )
    weights: str | None = option(
        default=None,
        help="Distribution of weights, such as whole:1:1024 [length of each link].",
        variable=None,
        metavar="LAW",
        parser=weight_law,
    )
    traces: int | None = option(
        default=None,
        help="Measure a network of known truth with this many traceroutes in all (internet): --out "
        "is then a folder of traces, tables and the truth.",
        variable=None,
        metavar="N",
        unit="traces",
        minimum=1,
        maximum=MAX_TRACES,
    )
    vantage_points: int | None = option(
        default=None,
        help="Hosts that measure (--traces) [those of the kind].",
        variable=None,
        metavar="K",
        unit="hosts",
        minimum=1,
        maximum=MAX_VANTAGE_POINTS,
    )
    kind: str = option(
        default=MEASURED,
        help="What the network is drawn by (--traces).",
        variable=None,
        metavar="KIND",
        choices=lambda: tuple(KINDS),
    )
    share: tuple[str, ...] = option(
        default=(),
        help="A share or size of the kind's plan, as silent=0.3; repeatable (--traces).",
        variable=None,
        metavar="NAME=VALUE",
        completes=_shares_begun,
    )
    nights: int | None = option(
        default=None,
        help="A folder of each of N nights, in --out (--traces).",
        variable=None,
        metavar="N",
        unit="nights",
        minimum=1,
        maximum=MAX_NIGHTS,
    )
    plant: tuple[str, ...] = option(
        default=(),
        help="A change from a night on, as link-cut@3, on nights 3 to 4 alone, as mpls@3-4, or of "
        f"a share, as silent=0.2@3; repeatable (--nights). Kinds: {', '.join(PLANTS)}.",
        variable=None,
        metavar="KIND@NIGHT",
        completes=_plants_begun,
    )
    format: TraceFormat = option(
        default="scamper",
        help="Traces as scamper's JSON or as warts (--traces).",
        variable=None,
    )
    out: Path | None = option(
        default=None,
        help=f"File to write: neighbour lists if it ends in {ADJACENCY_SUFFIX}, else BRITE; with "
        "--traces a folder.",
        variable=None,
        metavar="FILE",
    )
    store: Path | None = store_option(
        default=None,
        help="Store to write a snapshot to; with --like to read one from, too.",
        is_parameter=False,
    )
    out_store: Path | None = option(
        default=None,
        help="Another store to write a snapshot to (--like).",
        variable=None,
        metavar="DIR",
        parser=folder_of,
    )
    report: Path | None = option(
        default=None,
        help="Folder for a page and a table of how near it came to the original (--like).",
        variable=None,
        metavar="DIR",
    )
    snapshot: str | None = snapshot_option("Name of the snapshot in --store [today's date].")
    asn: int | None = asn_option(
        f"AS of all routers ({_OF_ONE_AS}), or to imitate (--like).", given_as_number
    )
    ingresses: int | None = ingresses_option(f"Number of ingresses to draw ({_WITHOUT_INGRESSES}).")
    config: Path | None = option(
        default=None,
        help="Configuration file of BRITE, whose numbers hold where no option gives another.",
        variable=None,
        metavar="FILE",
    )
    said: tuple[str, ...] = ()  # options that the user gave: none may be one of another model


# Options by the field of Parameters that they fill; those that a model leaves open are None.
OPTIONS = {
    "n_ases": "ases",
    "m": "links",
    "smallest": "min_routers",
    "largest": "max_routers",
    "max_ingresses": "max_ingresses",
    "n_rows": "rows",
    "cut": "cut",
    "min_degree": "min_degree",
    "max_degree": "max_degree",
    "connected": "connected",
    **{
        name: name
        for name in (
            *("growth", "preferential", "alpha", "beta", "p", "q"),
            *("as_model", "router_model", "edge_connection", "k", "grouping", "assignment"),
            *("level", "placement", "plane_side", "square_side"),
            *("bandwidth", "bandwidth_between", "weights"),
        )
    },
}


def model_in(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """As ``model_of``, of words of the command line, and the option that names another model.

    None: they name no model. Only ``ba`` has such an option, ``--internet``.
    """
    named = next((word for word in words if word in MODELS), None)
    if named != "ba":
        return named, ()
    return "internet" if "--internet" in words else named, ("internet",)


# Options of --like, which takes no model.
OF_LIKENESSES = (
    *("like", "asn", "routers", "ases", "seed", "out", "store", "out_store", "snapshot", "report"),
)

OF_SNAPSHOTS = ("snapshot", "asn", "ingresses")  # options that a file has no place for


def model_of(config: GenerateConfig) -> str:
    """Key of MODELS; ``internet`` for ``ba --internet``, whose ASes are made as in ``ba``.

    Raises
    ------
    UsageError
        Without a model, or for ``--internet`` of another one.
    """
    if config.model is None:
        raise UsageError(f"give a MODEL ({', '.join(MODELS)}), or --like SNAPSHOT; see --help")
    if not config.internet:
        return config.model
    if config.model != "ba":
        raise UsageError(f"--internet takes the model ba, not {config.model!r}")
    return "internet"


def options_of_model(model: str) -> tuple[str, ...]:
    """Names of the options that have a meaning for a key of MODELS, the most general ones last."""
    own = tuple(OPTIONS[field] for field in MODELS[model].options)
    without = {"asn"} if "ases" in own else set()
    without |= {"ingresses"} if MODELS[model].makes_graphs else set()
    of_snapshots = (name for name in OF_SNAPSHOTS if name not in without)
    of_brite = ("config",) if is_brite(model) else ()
    traced = ("traces", *OF_NETWORKS) if model == "internet" else ()
    return ("routers", *of_brite, *own, "seed", *traced, "out", "store", *of_snapshots)


def parameters_of(config: GenerateConfig, model: str) -> Parameters:
    """What a model, a key of MODELS, is given.

    Raises
    ------
    UsageError
        Without a number of routers; for a configuration file that cannot be read or that asks for
        another model.
    """
    options = {field: getattr(config, name) for field, name in OPTIONS.items()}
    if config.config is None:
        if config.routers is None:
            raise UsageError("give the number of routers: --routers N")
        if "links" not in config.said:  # of few routers, as many as there can be
            options["m"] = min(config.links, most_links(model, config.routers, config.ases))
        return Parameters(n_routers=config.routers, seed=config.seed, **options)
    from pipeline.generate.files.brite_conf import read_conf

    found = read_conf(config.config)
    if found.model != model:
        raise UsageError(
            f"{config.config} asks for another model: "
            f"hopscope generate {found.model} --config {config.config}"
        )
    options = {
        field: value if OPTIONS[field] in config.said else getattr(found.given, field)
        for field, value in options.items()
    }
    n_routers = found.given.n_routers if config.routers is None else config.routers
    as_level = found.given.as_level
    return Parameters(n_routers=n_routers, seed=config.seed, as_level=as_level, **options)


def plan_of(config: GenerateConfig) -> Plan:
    """What the network that is to be traced is drawn by.

    Raises
    ------
    UsageError
        If options do not go together, or a share is unknown or out of range.
    """
    model = model_of(config)
    if model != "internet":
        raise UsageError(f"--traces takes the model internet, not {model!r}")
    takes = ("traces", *OF_NETWORKS, "ases", "seed", "out")
    for name in config.said:
        if name not in (*takes, "model", "internet"):
            known = ", ".join(f"--{each.replace('_', '-')}" for each in takes)
            raise UsageError(
                f"--{name.replace('_', '-')} is not an option of networks that are traced; they "
                f"take {known}"
            )
    plan = make_plan(config.kind, config.seed)
    try:
        if "ases" in config.said:
            plan = sized(plan, config.ases)
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        plan = changed_plan(plan, config.share)
    except ValueError as error:
        raise UsageError(f"--share {error}") from None
    if config.vantage_points is not None:
        plan = replace(plan, n_vantage_points=config.vantage_points)
    orders_of(config)
    return plan


def orders_of(config: GenerateConfig) -> list[Order]:
    """What is to be planted on which nights.

    Raises
    ------
    UsageError
        If there is no such kind, share or night, or --nights is missing.
    """
    try:
        return [parse_order(text, config.nights or 1) for text in config.plant]
    except ValueError as error:
        raise UsageError(f"--plant {error}") from None
