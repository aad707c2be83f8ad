"""Networks of known truth, of many kinds: what an Internet is drawn by, each the same by its seed.

A network is drawn whole: ASes and relationships, routers, links and how they are numbered, exchange
points, unusual answers, customers, vantage points, delays, host names, the prefix table.
"""
