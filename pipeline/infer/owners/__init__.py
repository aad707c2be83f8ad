"""To which AS an address and a router belong: prefixes, special ranges, the election."""
