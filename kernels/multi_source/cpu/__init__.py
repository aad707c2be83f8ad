"""Bit-parallel searches on cores; the entry is ``search``, its twin ``gpu.search``."""
