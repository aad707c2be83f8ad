"""What commands and flow runs say on a terminal."""
