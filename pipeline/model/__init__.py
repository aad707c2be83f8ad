"""The types that stages exchange: plain NumPy columns."""
