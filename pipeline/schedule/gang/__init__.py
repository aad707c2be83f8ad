"""One graph over several workers at once: a gang of ranks, as a phase of its own."""
