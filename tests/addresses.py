"""Address columns from text and back, by the name that tests know."""

from pipeline.model.addresses import format_addrs, parse_addrs

__all__ = ["format_addrs", "parse_addrs"]
