"""The nouns that stages hand to one another: plain columns on numpy."""
