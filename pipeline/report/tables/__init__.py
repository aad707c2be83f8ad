"""Results to the tables of a report, one row per AS, ingress or node."""
