"""The page of an AS, a module for each of its parts."""
