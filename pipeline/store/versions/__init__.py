"""Versions of snapshots: their names and pointers, who holds them, and which nights are kept."""
