"""Processes: how they end and what they start, and where compiled code is kept for them."""
