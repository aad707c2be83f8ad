"""What another version of the program makes of the same network is of the changed input."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from pipeline.compare import compare_nights
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs import rows
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot
from tests.unit.pipeline.compare.by_hand import write_night
from tests.unit.pipeline.stages.test_mapped_share import MAPPED, config
from tests.unit.pipeline.store.snapshots import some_graphs, write

SHORT = [f"20.1.0.{i}" for i in range(1, 7)]
VANTAGES = ("20.7.0.1", "20.8.0.1", "20.6.0.1")


def lines(*ways: list[str]) -> dict[str, list[str]]:
    return {
        v: [f"{' '.join(way)} > 20.4.{k}.{j}" for k, way in enumerate(ways) for j in range(1, 4)]
        for v in VANTAGES
    }


WHOLE = lines([*SHORT, "20.2.0.1", "20.2.0.2"], ["20.1.0.3", "20.3.0.1", "20.3.0.2"])
# A link in the middle of AS1 is not there, AS2 neither, and AS3 is entered elsewhere.
OTHER = lines(SHORT[:3], SHORT[3:], ["20.1.0.2", "20.3.0.2"])
BY_PLAIN_DIFFERENCE = {"AS lost", "AS split in parts", "links removed"}


def test_the_number_of_the_rules_is_kept_and_another_one_is_another_input(tmp_path, monkeypatch):
    store = tmp_path / "store"
    for name, number in (("old", rows.RULES_VERSION), ("new", 1000), ("same", 1000)):
        monkeypatch.setattr(rows, "RULES_VERSION", number)
        ingest(replace(config(tmp_path, MAPPED), snapshot=name))
        with open_snapshot(store, name) as snapshot:
            assert snapshot.manifest["options"]["inference_rules"] == number
    old, new, same = (opened_as_is(store, name) for name in ("old", "new", "same"))
    assert old.other_inputs(new) == ["rules of inference"]
    assert new.other_inputs(same) == []
    changes, _ = compare_nights(old, new)
    assert changes.reason.tolist() == ["rules of inference"]
    del old.inputs["rules of inference"]  # as in snapshots of older rules
    assert old.other_inputs(new) == ["rules of inference"]


def opened_as_is(store, name):
    with open_snapshot(store, name) as snapshot:
        return open_night(snapshot)


def opened(folder, text, *, observations: bool, **told: str):
    """A night whose manifest says these options, as ingest of another version did."""
    write_night(folder, "night", text, observations=observations)
    with open_snapshot(folder) as snapshot:
        path = folder / "versions" / snapshot.version / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["options"] |= told
    manifest["manifest_sha256"] = "0" * 64
    checksum = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
    path.write_text(json.dumps(manifest | {"manifest_sha256": checksum}))
    with open_snapshot(folder) as snapshot:
        return open_night(snapshot)


@pytest.mark.parametrize("observations", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("of", ["hopscope", "inference_rules"])
@pytest.mark.parametrize("versions", [("1", "1"), ("1", "2"), ("", "1")])
def test_without_traces_another_version_explains_every_difference(
    tmp_path, versions, of, observations
):
    """A snapshot that keeps no paths, and whose manifest says nothing of them, is of early ones."""
    nights = [
        opened(
            tmp_path / name,
            text,
            observations=has_traces,
            **({of: version} if version else {}),
        )
        for name, text, version, has_traces in zip(
            ("old", "new"), (WHOLE, OTHER), versions, observations, strict=True
        )
    ]
    is_same = len(set(versions)) == 1
    for pair in (nights, nights[::-1]):
        changes, events = compare_nights(*pair)
        assert {"link", "AS"} <= {*changes.what}
        if not is_same:
            assert events.kind.tolist() == ["inputs changed"]
            assert (changes.event == 0).all()
    _, events = compare_nights(*nights)
    assert is_same == (set(events.kind) >= BY_PLAIN_DIFFERENCE)


def test_with_traces_of_both_nights_a_change_is_told_beside_another_version(tmp_path):
    """All pairs that crossed AS2 to its hosts on the old night end before it on the new one."""
    texts = {
        "old": "20.1.0.1 20.1.0.2 20.2.0.1 20.2.0.2 {0}! > {0}",
        "new": "20.1.0.1 20.1.0.2 * * > {0}",
    }
    nights = [
        opened(
            tmp_path / name,
            {v: [text.format(f"20.2.1.{i}") for i in range(1, 5)] for v in VANTAGES},
            observations=True,
            hopscope=name,
        )
        for name, text in texts.items()
    ]
    _, events = compare_nights(*nights)
    assert set(events.kind) == {"inputs changed", "AS lost"}


def test_a_topology_is_as_its_file_says_whatever_the_version(tmp_path):
    """So what its two nights differ in is no doing of the program."""
    inputs = [{"holds": "topology", "format": "brite"}]
    for name in ("1", "2"):
        write(tmp_path, name, some_graphs(), inputs=inputs, options={"hopscope": name})
    with open_snapshot(tmp_path, "1") as one, open_snapshot(tmp_path, "2") as two:
        assert open_night(one).inputs == open_night(two).inputs
