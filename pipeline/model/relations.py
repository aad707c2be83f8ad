"""What one AS is to another: numbers and words, without arrays."""

from __future__ import annotations

UNRELATED, PEER, PROVIDER, CUSTOMER, SIBLING = 0, 1, 2, 3, 4
WORDS = (None, "peer", "provider", "customer", "sibling")  # by these numbers
OF_THE_OTHER = (UNRELATED, PEER, CUSTOMER, PROVIDER, SIBLING)  # seen from the other AS


def relation_text(kind: int, are_siblings: bool) -> str:
    """What an AS is to another, in words: ``provider``, ``peer, sibling``, ``not stated``."""
    words = [WORDS[kind]] if kind else []
    if are_siblings and kind != SIBLING:
        words.append(WORDS[SIBLING])
    return ", ".join(filter(None, words)) or "not stated"
