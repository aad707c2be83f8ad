"""What text formats share: lines, digits, addresses."""
