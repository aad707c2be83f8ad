"""The workers: found, started, checked, guarded."""
