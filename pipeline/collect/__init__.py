"""Outcomes of searches to columns, in any order."""

from pipeline.collect.collector import Collector

__all__ = ["Collector"]
