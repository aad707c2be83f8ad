"""Processes that flows start: Prefect's server, programs that end with their parent, locks."""
