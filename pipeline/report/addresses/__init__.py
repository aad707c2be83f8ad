"""The addresses of a report, for the search of its index."""
