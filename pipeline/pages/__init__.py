"""Pages on this machine: what their servers share, and places of nodes in pictures."""
