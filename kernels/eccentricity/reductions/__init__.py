"""Reductions that save searches: pendant trees, landmarks, far pairs, reference nodes."""
