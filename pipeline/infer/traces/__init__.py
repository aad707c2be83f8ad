"""What traces say before anything is inferred: cleaned, spooled, counted by links."""
