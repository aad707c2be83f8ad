"""Kept traces of a report, for its page of paths."""
