"""One flow run: its turn, its handover file, its end, and how the server lists it."""
