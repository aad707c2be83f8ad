"""Traces before inference: cleaned, spooled, counted by links."""
