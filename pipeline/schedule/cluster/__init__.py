"""Workers: finding, checking and protecting them; ``own`` starts those of this machine."""
