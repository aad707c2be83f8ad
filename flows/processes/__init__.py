"""Processes that flows start and keep: Prefect's server, what ends with its parent, locks."""
