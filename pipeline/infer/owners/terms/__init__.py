"""Terms of what it costs to say that a router is in an AS: a module and a row (``TERM``) each.

Weights are nats where they stand for a probability; costs are computed in tenths of them. No term
is negative. The names of weights are the fields of ``costs.Costs``.
"""

from pipeline.infer.owners.terms import (
    adjacency,
    broken_off,
    destinations,
    habit,
    host_names,
    hosts,
    hosts_past,
    links,
    members,
    numbering,
    only_destination,
    organisations,
    private_links,
    strangers,
    transit,
)

TERMS = (
    links.TERM,
    adjacency.TERM,
    numbering.TERM,
    habit.TERM,
    organisations.TERM,
    strangers.TERM,
    private_links.TERM,
    hosts.TERM,
    hosts_past.TERM,
    destinations.TERM,
    broken_off.TERM,
    only_destination.TERM,
    transit.TERM,
    members.TERM,
    host_names.TERM,
)
