"""Unmapped addresses between two of one AS."""

import numpy as np

from pipeline.infer.owners.adoption import adopt_unmapped


def test_an_unmapped_node_is_adopted_only_where_both_sides_agree():
    near = np.array([0, 1, 2, 3, 1, 4])
    far = np.array([1, 2, 3, 4, 5, 1])
    asn = np.array([7, -1, 7, -1, 8, 7])
    assert adopt_unmapped(near, far, asn).tolist() == [7, -1, 7, -1, 8, 7]
    asn[4] = 7
    assert adopt_unmapped(near, far, asn).tolist() == [7, 7, 7, 7, 7, 7]
