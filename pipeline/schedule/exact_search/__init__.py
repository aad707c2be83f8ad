"""Widths of one large AS: each search a task, bounds merged as results come."""
