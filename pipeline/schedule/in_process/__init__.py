"""Short runs in this process, on its cores, where a cluster would take longer to start."""
