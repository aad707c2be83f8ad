"""Registry of metrics, one row each; everything that lists metrics or columns reads it.

To add one, write a kernel that takes a ``kernels.Shard`` and gives arrays with one value per graph,
and a row here that names it. Its tasks, its columns, its place in reports, in later runs and on the
command line follow from the row.

Every command imports this first: only the standard library is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, cast

from pipeline.metrics.columns import BY_WEIGHT_ONLY, COLUMNS_BY_TASK, WEIGHTED, Column, Table

if TYPE_CHECKING:
    from kernels.exact_search import Question as WidthMetric  # each is a question to kernels
    from kernels.host import Work
else:
    WidthMetric = str

EVERY_NODE = -1  # value of ``searches`` of a metric that sweeps from every node


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    name : str
        As users name it.
    question : str
        The question that it answers.
    task : str
        Kind of the tasks that answer it: ``search`` (from every ingress), ``widths`` and
        ``weighted`` (several metrics in one task), or, with a kernel, one of its own.
    columns : tuple of Column
        Its results. With a kernel of its own: flat columns of ``ases``, of which the first is the
        value itself: if it is NaN, all are null; then float64 columns of ``nodes``, of which the
        kernel gives a value for each node of the shard.
    section : str
        Template that shows it on the page of an AS, in ``report/templates``.
    asks : str
        Its name in tasks, if different from ``name``.
    kernel : str
        ``module:function`` of its own kernel: (Shard) -> object with an array for each
        column, on the host, one row per graph. Empty: the task computes it.
    searches : int
        Approximate cost of an answer, in searches of its graph: only for order, packs and
        deadlines. EVERY_NODE: a sweep from each node of a graph, or from a sample of a large one.
    compiles : tuple of str
        What is compiled before workers start: kinds of ``kernels.host.Work``.
    cheaper : str
        What makes a long task of it cheaper.
    in_all : bool
        Whether ``all`` includes it.
    implies : tuple of str
        Further WIDTH_METRICS that its answer gives, in the same unit.
    version : int
        Of what it means: to be raised when its results change for another reason than the sources
        of kernels. Results of another version are not reused.
    """

    name: str
    question: str
    task: str
    columns: tuple[Column, ...]
    section: str = "figures.html"
    asks: str = ""
    kernel: str = ""
    searches: int = 1
    compiles: tuple[Work, ...] = ()
    cheaper: str = ""
    in_all: bool = True
    implies: tuple[WidthMetric, ...] = ()
    version: int = 1

    def columns_in(self, table: Table) -> tuple[Column, ...]:
        """Its columns of one table."""
        return tuple(column for column in self.columns if column.table == table)

    @property
    def searches_column(self) -> str:
        """Column of the number of searches of its own kernel; empty: not reported."""
        return next((c.name for c in self.columns if c.source == "n_searches"), "")


def _width(
    name: WidthMetric,
    question: str,
    columns: tuple[str, ...],
    searches: int,
    implies: tuple[WidthMetric, ...] = (),
) -> Metric:
    result_columns = tuple(c for c in COLUMNS_BY_TASK["widths"] if c.name in columns)
    return Metric(
        name,
        question,
        "widths",
        result_columns,
        "widths.html",
        asks=name,
        searches=searches,
        compiles=("widths",),
        cheaper="--max-searches N ends with bounds, fewer --metrics need fewer searches "
        "(eccentricities, center and periphery most)",
        implies=implies,
    )


def _weighted(metric: Metric) -> Metric:
    """The same question by weight."""
    names = {WEIGHTED + name for name in (*(c.name for c in metric.columns), *BY_WEIGHT_ONLY)}
    if metric.name != "diameter":
        names -= {WEIGHTED + name for name in BY_WEIGHT_ONLY}
    return replace(
        metric,
        name=WEIGHTED + metric.name,
        question=f"{metric.question.removesuffix('?')}, by weight of links?",
        task="weighted",
        columns=tuple(c for c in COLUMNS_BY_TASK["weighted"] if c.name in names),
        compiles=("widths", "weights"),  # bounds as in hops
        cheaper="--max-searches N ends with bounds, fewer weighted --metrics need fewer searches",
        in_all=False,
    )


# Searches of 2,000 ASes of 2 million routers, two cores, all of these metrics together.
_OF_WIDTHS = (
    _width(
        "diameter",
        "How far apart are the two most distant nodes?",
        (
            *("diameter", "diameter_lower", "diameter_upper"),
            *("diameter_likely_low", "diameter_likely_high"),
            *("diameter_path", "diameter_path_addrs"),
        ),
        40,
    ),
    _width(
        "radius",
        "How far is the farthest node from the most central one?",
        ("radius", "radius_lower", "radius_upper", "radius_likely_low", "radius_likely_high"),
        30,
    ),
    _width(
        "center",
        "Which nodes are the most central?",
        ("n_center", "in_center"),
        60,
        implies=("radius",),
    ),
    _width(
        "periphery",
        "Which nodes are the least central?",
        ("n_periphery", "in_periphery"),
        60,
        implies=("diameter",),
    ),
    _width(
        "eccentricities",
        "How far is the farthest node from each node?",
        ("ecc_counts", "eccentricity"),
        240,
        implies=("diameter", "radius", "center", "periphery"),
    ),
)
WIDTH_METRICS = cast("tuple[WidthMetric, ...]", tuple(metric.name for metric in _OF_WIDTHS))

_ROWS = (
    Metric(
        "hops",
        "How many hops are there between each ingress and every node?",
        "search",
        COLUMNS_BY_TASK["search"],
        "as.html",
    ),
    *_OF_WIDTHS,
    Metric(
        "effective_diameter",
        "Within how many hops are nine out of ten connected pairs of nodes?",
        "effective",
        (
            Column(
                "effective_diameter",
                "float64",
                "hops",
                "hops within which 90 % of the connected pairs of all components are, interpolated",
                source="value",
                decimals=2,
            ),
            Column(
                "effective_estimated",
                "bool",
                "",
                "whether it is an estimate from some sources",
                source="is_estimated",
            ),
            Column(
                "effective_error",
                "float64",
                "hops",
                "standard error of an estimate; 0 if all pairs were counted",
                source="error",
            ),
            Column(
                "n_effective_searches",
                "int64",
                "nodes",
                "number of sources",
                source="n_searches",
            ),
        ),
        "effective_diameter.html",
        kernel="kernels.distance_distribution:effective_diameters",
        searches=EVERY_NODE,
        compiles=("widths",),
    ),
    Metric(
        "closeness",
        "How close is each node to all others?",
        "closeness",
        (
            Column(
                "max_closeness",
                "float64",
                "",
                "largest closeness of a node: the share of the other nodes that it reaches, by its "
                "mean hops to these; 1 if it is linked to all others, 0 without a link",
                decimals=3,
            ),
            Column(
                "max_closeness_node", "int32", "", "its id; of several the smallest", source="node"
            ),
            Column(
                "closeness_estimated",
                "bool",
                "",
                "whether closeness is an estimate from some sources",
                source="is_estimated",
            ),
            Column(
                "max_closeness_error",
                "float64",
                "",
                "standard error of an estimate of `max_closeness`; 0 if all nodes were searched",
                source="error",
            ),
            Column(
                "n_closeness_searches",
                "int64",
                "nodes",
                "number of sources",
                source="n_searches",
            ),
            Column(
                "closeness",
                "float64",
                "",
                "share of the other nodes of the AS that the node reaches, by its mean hops to "
                "these: 0 without a link, 1 if it is linked to all others; null if not requested, "
                "or if no source of an estimate is in its component",
                "nodes",
            ),
            Column(
                "harmonic",
                "float64",
                "",
                "mean over the other nodes of the AS of 1 / hops, 0 for those it does not reach; "
                "likewise",
                "nodes",
            ),
        ),
        "closeness.html",
        kernel="kernels.closeness:closenesses",
        searches=EVERY_NODE,
        compiles=("widths",),
    ),
    Metric(
        "max_degree",
        "How many links has the node with most?",
        "degrees",
        (
            Column(
                "max_degree",
                "int64",
                "links",
                "links of the node with most, inside the AS",
            ),
            Column(
                "max_degree_node", "int32", "", "its id; of several the smallest", source="node"
            ),
            Column("n_max_degree", "int64", "nodes", "nodes with as many links", source="n_nodes"),
        ),
        kernel="kernels.degrees:max_degrees",
    ),
    *map(_weighted, _OF_WIDTHS),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ROWS}


def names_for_all() -> tuple[str, ...]:
    """Metrics that ``all`` stands for."""
    return tuple(name for name, metric in METRICS.items() if metric.in_all)


def names_for_help() -> str:
    """What users can name, in one line; a question by weight is next to the same one in hops."""
    plain = [name for name in METRICS if not name.startswith(WEIGHTED)]
    in_both = [name for name in plain if WEIGHTED + name in METRICS]
    others = [name for name in plain if name not in in_both]
    return (
        f"{', '.join(others)}; {', '.join(in_both)}, each also with the prefix {WEIGHTED}; "
        f"all: those without {WEIGHTED}"
    )


def tasks_of(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Kinds of tasks that metrics need -> names of metrics in each; unknown names are left out.

    Kinds that answer several metrics come first.
    """
    wanted = set(names)
    asked: dict[str, tuple[str, ...]] = {}
    for metric in sorted(METRICS.values(), key=lambda metric: bool(metric.kernel)):
        if metric.name in wanted:
            asked[metric.task] = (*asked.get(metric.task, ()), metric.asks or metric.name)
    return asked


def metrics_of(task: str) -> tuple[Metric, ...]:
    """Metrics that tasks of one kind answer."""
    return tuple(metric for metric in METRICS.values() if metric.task == task)


@cache
def implied_by(name: str) -> frozenset[WidthMetric]:
    """Of WIDTH_METRICS: those whose answer gives that of ``name``, itself among them."""
    return frozenset(
        metric for metric in WIDTH_METRICS if name in (metric, *METRICS[metric].implies)
    )


def own_kernels() -> dict[str, Metric]:
    """Kinds of tasks that run the kernel of one metric -> that metric."""
    return {metric.task: metric for metric in METRICS.values() if metric.kernel}


def columns_of(task: str, table: Table = "ases") -> tuple[Column, ...]:
    """Result columns of one kind of task, in the order of a table."""
    own = own_kernels().get(task)
    result_columns = COLUMNS_BY_TASK[task] if own is None else own.columns
    return tuple(column for column in result_columns if column.table == table)


@cache
def decimals_of(column: str) -> int | None:
    """Decimals shown of a figure of a column of ``ases``; None: a whole number."""
    tasks = dict.fromkeys(metric.task for metric in METRICS.values())
    return next((c.decimals for task in tasks for c in columns_of(task) if c.name == column), None)


def cheaper(task: str) -> str:
    """What makes long tasks of one kind cheaper."""
    metrics = metrics_of(task)
    own = f"leave {metrics[0].name} out of --metrics" if metrics and metrics[0].kernel else ""
    return own or next((metric.cheaper for metric in metrics if metric.cheaper), "")


# Kinds of work, for a worker whose GPU is made ready for them.
WORK_VARIABLE = "HOPSCOPE_GPU_WORK"


def compiled_work(names: Sequence[str]) -> tuple[Work, ...]:
    """Kinds of work that metrics compile kernels for."""
    needed = {kind for name, metric in METRICS.items() if name in names for kind in metric.compiles}
    order: tuple[Work, ...] = ("searches", "widths", "weights")
    return tuple(kind for kind in order if kind == "searches" or kind in needed)
