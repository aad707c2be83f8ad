"""One flow run: its turn, its hand-over, its end, and how the server lists it."""
