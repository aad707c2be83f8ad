"""Laws by which models draw degrees, sizes, places and weights."""
