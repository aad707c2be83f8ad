"""Workers: finding, starting, checking and protecting them."""
