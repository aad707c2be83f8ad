"""Files that hold a generated topology."""
