"""What was measured of graphs, beside the snapshots of a store: see docs/store.md and adr/0010."""

from pipeline.store.results.keys import GraphKeys, first_of_equal, keys_of, keys_of_weighted
from pipeline.store.results.table import ResultTable, check_results, result_table

__all__ = [
    "GraphKeys",
    "ResultTable",
    "check_results",
    "first_of_equal",
    "keys_of",
    "keys_of_weighted",
    "result_table",
]
