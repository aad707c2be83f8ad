"""Bit-parallel searches on cores; the entry module is ``search``, as in ``gpu``."""
