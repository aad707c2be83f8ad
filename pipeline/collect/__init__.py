"""Outcomes of searches to columns, in whatever order they come."""

from pipeline.collect.collector import Collector, concat_results, empty_results, take_results

__all__ = ["Collector", "concat_results", "empty_results", "take_results"]
