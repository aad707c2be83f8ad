"""Which searches share a task, on which device, in which order. Pure."""
