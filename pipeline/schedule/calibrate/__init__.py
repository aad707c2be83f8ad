"""What searches and tasks cost on this machine, measured and kept."""
