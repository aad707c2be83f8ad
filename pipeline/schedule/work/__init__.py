"""What a worker does with a task."""
