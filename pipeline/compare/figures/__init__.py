"""Figures of two nights compared: hop counts, delays, and the medians of both."""
