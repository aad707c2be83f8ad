"""Addresses of one router: alias files, point-to-point links."""
