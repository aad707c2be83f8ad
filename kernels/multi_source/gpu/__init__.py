"""Bit-parallel searches on one GPU; the entry is ``search``, its twin ``cpu.search``."""
