"""What registries say about ASes and addresses: optional evidence for the election of owners."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.infer.registries.delegations import Delegations
from pipeline.infer.registries.exchanges import ExchangePoints
from pipeline.infer.registries.organisations import Organisations
from pipeline.infer.registries.relationships import Relationships


@dataclass(frozen=True, eq=False)
class Registries:
    """Files about ASes and addresses; None for what was not given."""

    relationships: Relationships | None = None
    organisations: Organisations | None = None
    delegations: Delegations | None = None
    exchanges: ExchangePoints | None = None
