"""The automations of flows/automations.yaml on a server, each with all blocks of a config."""

from __future__ import annotations

import copy
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

import flows
from flows.runs.api import Api

FILE = Path(flows.__file__).with_name("automations.yaml")
# What runs report themselves is left out: the same blocks would get it twice.
BY_RUNS = ("hopscope incomplete night", "hopscope night with events")
PAGE = 200  # that Prefect lists at most


def block_id(name: str, api: Api) -> str:
    """Id of a block ``TYPE/NAME``; HTTPError if there is none."""
    kind, _, block = (urllib.parse.quote(part, safe="") for part in name.partition("/"))
    return str(api.get(f"/block_types/slug/{kind}/block_documents/name/{block}")["id"])


def wanted(blocks: Sequence[str]) -> list[dict[str, Any]]:
    """Automations that send to each of some blocks, given by their ids."""
    found = []
    for each in yaml.safe_load(FILE.read_text())["automations"]:
        if each["name"] in BY_RUNS:
            continue
        (action,) = each["actions"]
        actions = [copy.deepcopy(action) | {"block_document_id": block} for block in blocks]
        found.append(each | {"actions": actions})
    return found


def renew_automations(names: Sequence[str], api: Api) -> list[str]:
    """Create the automations, or give those of the same names these blocks; their names.

    Raises
    ------
    OSError, ValueError
        If a block is not there, or the server does not take them.
    """
    automations = wanted([block_id(name, api) for name in names])
    mine = {"automations": {"name": {"any_": [each["name"] for each in automations]}}}
    listed = api.post("/automations/filter", mine | {"limit": PAGE})
    known = {each["name"]: each for each in listed}
    for each in automations:
        if each["name"] in known:
            there = known[each["name"]]
            api.put(f"/automations/{there['id']}", each | {"enabled": there["enabled"]})
        else:
            api.post("/automations/", each)
    return [each["name"] for each in automations]
