"""Bit-parallel searches on one GPU; the entry module is ``search``, as in ``cpu``."""
