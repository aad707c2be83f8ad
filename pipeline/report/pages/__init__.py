"""Figures to HTML pages."""
