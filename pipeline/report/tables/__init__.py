"""Results to the tables of a report, a row an AS, an ingress or a node."""
