"""Prefect flows: a thin layer around ``pipeline.stages``."""
