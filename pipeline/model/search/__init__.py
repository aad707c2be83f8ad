"""Tasks of searches, and what comes of them."""
