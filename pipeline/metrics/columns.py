"""Columns of metrics, in the order of the report's tables; standard library only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

WEIGHTED = "weighted_"  # names of metrics by weight, and of their columns, begin with it
BY_WEIGHT = "weight"  # unit of what is reported in the unit of the snapshot's weights

Table = Literal["ases", "nodes", "ingresses"]


@dataclass(frozen=True)
class Column:
    """A column of a table of the report.

    Attributes
    ----------
    name : str
    dtype : str
        As Arrow names it: int32, int64, float64, bool, string; ``list<...>`` of these.
    unit : str
        Unit of its values; empty if they are names, flags or shares.
    means : str
        Text for readers; {noun} and {nouns} stand for what a node is called.
    table : str
        The table: ``ases.parquet``, ``nodes/<asn>.parquet``, ``ingresses.parquet``.
    source : str
        What a metric's own kernel calls it; empty: ``name``.
    label, title : str
        Heading and tooltip of the column in the list of ASes; empty if it is not shown there.
    decimals : int or None
        Decimals of its figures on pages; None: whole numbers or texts.
    """

    name: str
    dtype: str
    unit: str
    means: str
    table: Table = "ases"
    source: str = ""
    label: str = ""
    title: str = ""
    decimals: int | None = None


_HOPS = (
    Column(
        "mean_hops",
        "float64",
        "hops",
        "mean over all pairs (ingress, node it reaches), without the ingress itself; null without "
        "a pair",
        decimals=2,
    ),
    Column(
        "median_hops",
        "float64",
        "hops",
        "median over these pairs, interpolated between the two nearest ranks (numpy's `linear`), "
        "on exact integer ranks",
        decimals=1,
    ),
    Column(
        "p90_hops",
        "float64",
        "hops",
        "90th percentile over these pairs, interpolated likewise",
        decimals=1,
    ),
    Column(
        "max_hops",
        "int32",
        "hops",
        "largest eccentricity of an ingress; 0 if each reaches only itself, null without a "
        "finished search",
    ),
    Column("n_reached", "int64", "nodes", "nodes reached, the ingress included", "ingresses"),
    Column("eccentricity", "int32", "hops", "hops to the farthest of them", "ingresses"),
    Column(
        "mean_hops",
        "float64",
        "hops",
        "over the nodes reached, without the ingress; null if it reaches no other",
        "ingresses",
    ),
    Column(
        "hop_counts",
        "list<int64>",
        "nodes",
        "`hop_counts[h]`: nodes at h hops; 1 at h = 0",
        "ingresses",
    ),
    Column(
        "farthest",
        "list<int32>",
        "",
        "the 10 smallest node ids at the largest distance",
        "ingresses",
    ),
    Column(
        "farthest_addrs",
        "list<string>",
        "",
        "their addresses, or ids of the input file",
        "ingresses",
    ),
    Column(
        "closeness",
        "float64",
        "",
        "share of the other nodes of the AS that the ingress reaches, by its mean hops to these",
        "ingresses",
    ),
    Column(
        "harmonic",
        "float64",
        "",
        "mean over the other nodes of the AS of 1 / hops, 0 for those it does not reach",
        "ingresses",
    ),
)

_LOWER = "proven lower bound; equal to the value if it is exact, null if nothing is known"
_UPPER = "proven upper bound, likewise"
_LOW = (
    "least {} that the whole AS probably has, of which traces show a part: nine of ten ASes of "
    "simulated networks were in such a range. Null where nothing bounds that of the graph, and "
    "without traces"
)
_HIGH = "largest one, likewise"
# Results of tasks of kind ``widths``, in the order of the tables.
_WIDTHS = (
    Column(
        "diameter",
        "int64",
        "hops",
        "largest eccentricity of all nodes; null while not exact",
        label="Diameter",
        title="Hops between the two most distant {nouns}",
    ),
    Column("diameter_lower", "int64", "hops", _LOWER),
    Column("diameter_upper", "int64", "hops", _UPPER),
    Column("diameter_likely_low", "int64", "hops", _LOW.format("diameter")),
    Column("diameter_likely_high", "int64", "hops", _HIGH),
    Column(
        "radius",
        "int64",
        "hops",
        "smallest eccentricity of all nodes; null while not exact",
        label="Radius",
        title="Hops from the center to the farthest {noun}",
    ),
    Column("radius_lower", "int64", "hops", _LOWER),
    Column("radius_upper", "int64", "hops", _UPPER),
    Column("radius_likely_low", "int64", "hops", _LOW.format("radius")),
    Column("radius_likely_high", "int64", "hops", _HIGH),
    Column(
        "exact", "bool", "", "whether everything requested is known exactly, in every component"
    ),
    Column(
        "n_center",
        "int64",
        "nodes",
        "nodes whose eccentricity is the radius; null if not requested or unknown. They are "
        "listed in `nodes/<asn>.parquet`",
    ),
    Column("n_periphery", "int64", "nodes", "nodes whose eccentricity is the diameter, likewise"),
    Column(
        "diameter_path",
        "list<int32>",
        "",
        "node ids of a longest shortest path from the searches for widths, with both ends: as "
        "long as `diameter_lower` (any of several such paths); shorter only if an ingress proved "
        "the bound",
    ),
    Column("diameter_path_addrs", "list<string>", "", "their addresses"),
    Column(
        "diameter_path_at",
        "list<float64>",
        BY_WEIGHT,
        "weight of the path from its first node to each",
    ),
    Column("ecc_counts", "list<int64>", "nodes", "`ecc_counts[e]`: nodes with eccentricity e"),
    Column(
        "n_width_searches",
        "int64",
        "nodes",
        "sources of all these searches, in all components. Two runs may differ: bounds tighten "
        "in the order in which workers answer",
    ),
    Column(
        "other_components",
        "list<int32>",
        "",
        "the other components with at least two nodes, by their smallest node id",
    ),
    Column("other_sizes", "list<int32>", "nodes", "nodes of each of them"),
    Column("other_diameters", "list<int64>", "hops", "diameter of each; null if not exact"),
    Column("other_radii", "list<int64>", "hops", "radius of each; null if not exact"),
    Column(
        "eccentricity",
        "int32",
        "hops",
        "hops to the farthest node of its own component; null if not requested or unknown",
        "nodes",
    ),
    Column(
        "in_center",
        "bool",
        "",
        "of the largest component; null if not requested or unknown",
        "nodes",
    ),
    Column("in_periphery", "bool", "", "likewise", "nodes"),
)
BY_WEIGHT_ONLY = ("diameter_path_at",)
LIKELY = (
    "diameter_likely_low",
    "diameter_likely_high",
    "radius_likely_low",
    "radius_likely_high",
)
_BY_HOPS_ONLY = ("ecc_counts", *LIKELY)  # distances by weight are hardly ever equal


def meaning_by_weight(means: str) -> str:
    """What a column of widths means if distances are weights of paths, not hops."""
    return means.replace("hops to", "weight of the lightest path to")


def _by_weight(column: Column) -> Column:
    """The same column of widths by weight."""
    changed = replace(column, name=WEIGHTED + column.name)
    if column.unit != "hops":
        return changed
    label = {"Diameter": "Diam."}.get(column.label, column.label)
    return replace(
        changed,
        means=meaning_by_weight(column.means),
        dtype="list<float64>" if column.dtype.startswith("list") else "float64",
        unit=BY_WEIGHT,
        label=label,
        title="The same by weight of links" if label else "",
        decimals=2 if label else None,
    )


# Kind of task that answers several metrics -> all of its columns.
COLUMNS_BY_TASK: dict[str, tuple[Column, ...]] = {
    "search": _HOPS,
    "widths": tuple(c for c in _WIDTHS if c.name not in BY_WEIGHT_ONLY),
    "weighted": tuple(_by_weight(c) for c in _WIDTHS if c.name not in _BY_HOPS_ONLY),
}
