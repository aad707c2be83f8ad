"""Exact search of one large AS: each search is a task, bounds are merged as results arrive."""
