"""Costs of searches and tasks on this machine: measured and stored."""
