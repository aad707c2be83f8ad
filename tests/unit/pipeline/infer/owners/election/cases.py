"""Elections made by hand: routers next to each other, and links that hold each in an AS."""

import numpy as np

from pipeline.infer.owners.election.costs import Case, without_habit
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.surroundings import ADJACENCY, Surroundings
from pipeline.model.columns.ragged import offsets
from pipeline.model.tables.registries import Registries


def case_of(links, evidence, labels, registries=None, n_ases=2):
    """Routers next to each other (13 between two ASes), with links numbered from an AS (25).

    Parameters
    ----------
    links : list of pairs of routers
    evidence : list of (AS row, number of such links), by router
    labels : list of int
        AS row of each router. Row i is AS i + 1.
    """
    entries = [[(-1, asn)] * n for asn, n in evidence]
    for one, other in links:
        entries[one].append((other, ADJACENCY))
        entries[other].append((one, ADJACENCY))
    other, numbered = np.array([row for rows in entries for row in rows]).T
    ptr = offsets(np.array([len(rows) for rows in entries]))
    around = Surroundings(ptr, other, numbered)
    ways = without_habit(relations_among(np.arange(1, n_ases + 1), registries or Registries()))
    held = np.full(len(entries), -1)
    return Case.of(around, np.array(labels), np.full(n_ases, 5), n_ases, ways, held)
