"""Shared by text formats: lines, digits, addresses."""
