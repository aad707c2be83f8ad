"""Search tasks and their results."""
