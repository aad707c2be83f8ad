"""Changes planted on nights of a network: where each finds a place, and what is true of it."""
