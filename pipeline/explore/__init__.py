"""A page on this machine to make, load and search graphs: ``hopscope explore``."""
