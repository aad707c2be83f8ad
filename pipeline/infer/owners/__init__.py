"""The AS of addresses and routers: prefixes, special ranges, the election."""
