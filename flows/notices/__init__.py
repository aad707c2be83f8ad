"""Notices of nightly runs: events of a rank, and nights that failed or left something out."""
