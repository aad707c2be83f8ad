"""Terminal input and output of commands and flow runs."""
