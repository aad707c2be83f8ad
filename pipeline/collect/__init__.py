"""Outcomes of searches to columns, in whatever order they come."""

from pipeline.collect.collector import Collector

__all__ = ["Collector"]
