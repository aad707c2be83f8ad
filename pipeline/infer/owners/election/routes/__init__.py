"""What traces show of the routes that BGP makes, after the election: ``loops`` and ``valleys``."""
