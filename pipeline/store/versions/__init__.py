"""Versions of snapshots: their names and pointers, who holds them open, which nights are kept."""
