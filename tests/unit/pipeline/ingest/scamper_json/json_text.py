"""The committed JSON sample: what sc_warts2json prints for the warts sample, and broken variants.

``python -m tests.unit.pipeline.ingest.scamper_json.json_text`` writes data/samples/scamper_json,
for which scamper's sc_warts2json must be installed.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

SAMPLES = Path(__file__).parents[5] / "data" / "samples"
FOLDER = SAMPLES / "scamper_json"

METADATA = b'{"UUID":"host_1_2","TracerouteCallerVersion":"v1","CachedResult":false}\n'
CYCLE = b'{"type":"cycle-start", "list_name":"sample", "id":0, "hostname":"here", "start_time":1}\n'


def trace(hops: str = "[]", **changed: str) -> bytes:
    """A trace as one line; ``changed`` gives the JSON text of further or other values."""
    values = {"type": '"trace"', "src": '"192.0.2.1"', "dst": '"192.0.2.2"'}
    values |= {"start": '{"sec":5, "usec":250000}', "hops": hops, **changed}
    return ("{" + ", ".join(f'"{key}":{value}' for key, value in values.items()) + "}\n").encode()


def hop(**changed: str) -> str:
    values = {"addr": '"203.0.113.1"', "probe_ttl": "1", "probe_id": "1", "rtt": "0.5"}
    values |= {"icmp_type": "11", "icmp_code": "0", **changed}
    return "{" + ", ".join(f'"{key}":{value}' for key, value in values.items() if value) + "}"


# reason -> lines that must be rejected for it
BROKEN = {
    "not JSON": [
        trace()[:-3] + b"\n",
        b"*\n",
        trace(f"[{hop()}, ]"),
        trace("[{]}"),
        trace(f"[{hop(rtt='NaN')}]"),
        trace(f"[{hop(rtt='.5')}]"),
        trace(f"[{hop(probe_ttl='01')}]"),
        trace(src='"192.0.2.1\xff"').replace("\xff".encode(), b"\xff"),
        trace()[:-1] + b"}\n",
        trace()[:-1] + b" more\n",
        b'{"type":"trace", "dst":"192.0.2.2"}, "hops":[]}\n',
    ],
    "not a JSON object": [b"[]\n", b"17\n", b'"trace"\n', b"null\n"],
    "record of unknown type": [
        b'{"type":"trace-invalid"}\n',
        b'{"dst":"192.0.2.2"}\n',
        b'{"type":7}\n',
        b"{}\n",
        trace(type='"traceroute"'),
    ],
    "trace without a destination": [b'{"type":"trace"}\n', trace(dst="null")],
    "not an address": [
        trace(dst='"192.0.2.256"'),
        trace(dst='"192.0.2"'),
        trace(dst='"host.example"'),
        trace(src="[]"),
        trace(src="17"),
        trace(f"""[{hop(addr='"203.0.113.01"')}]"""),
        trace(f"""[{hop(addr='"1:2:3:4:5:6:7:8:9"')}]"""),
        trace(f"""[{hop(addr='"1:2:3:4::5:6:7:8"')}]"""),
        trace(f"""[{hop(addr='"1::2::3"')}]"""),
        trace(f"""[{hop(addr='":1::"')}]"""),
        trace(f"[{hop(addr='{}')}]"),
    ],
    "hops are not a list": [trace("{}"), trace('"many"'), trace("0")],
    "hop is not an object": [trace("[null]"), trace("[[]]"), trace(f"[{hop()}, 3]")],
    "TTL is not a number from 1 to 255": [
        trace(f"[{hop(probe_ttl='0')}]"),
        trace(f"[{hop(probe_ttl='300')}]"),
        trace(f"[{hop(probe_ttl='-1')}]"),
        trace(f"[{hop(probe_ttl='1.0')}]"),
        trace(f"""[{hop(probe_ttl='"1"')}]"""),
        trace(f"[{hop(probe_ttl='true')}]"),
        trace(f"[{hop(probe_ttl='')}]"),
        trace(f"[{hop(probe_ttl='99999999999999999999999')}]"),
        trace(f"""[{hop(addr='"*"', probe_ttl="0")}]"""),
    ],
    "ICMP type or code is not a number from 0 to 255": [
        trace(f"[{hop(icmp_type='256')}]"),
        trace(f"[{hop(icmp_code='-1')}]"),
        trace(f"""[{hop(icmp_type='"11"')}]"""),
    ],
    "RTT is not a number": [
        trace(f"""[{hop(rtt='"0.5"')}]"""),
        trace(f"[{hop(rtt='[]')}]"),
        trace(f"[{hop(rtt='false')}]"),
    ],
    "nested too deep": [b"[" * 5000 + b"\n", trace(note="[" * 256 + "]" * 256)],
}


def _bad() -> dict[str, tuple[bytes, str, int, dict[str, int]]]:
    """Broken files by name: content, error, traces that are read, rejected records."""
    good = trace(f"[{hop()}]")
    none = "not scamper JSON: it has no scamper record"
    bad = {
        "cut.json": (good + good[:-30], "cut short in a record", 1, {}),
        "cut_array.json": (
            b"[" + good + b"," + good[:-30],
            "cut short or broken: an element of the array has no end",
            1,
            {},
        ),
        "array_without_end.json": (
            b"[" + good + b"," + good,
            "cut short: the array has no end",
            2,
            {},
        ),
        "array_without_comma.json": (
            b"[" + good + good + b"]",
            "the array is broken: no comma after an element",
            1,
            {},
        ),
        "text_behind_array.json": (
            b"[" + good + b"] and more\n",
            "text follows the end of the array",
            1,
            {},
        ),
        "other_json.json": (
            b'{"fw":5020,"type":"traceroute","result":[]}\n',
            none,
            0,
            {"record of unknown type": 1},
        ),
        "empty_array.json": (b"[]\n", none, 0, {}),
    }
    for number, (reason, lines) in enumerate(BROKEN.items(), start=1):
        content = good + b"".join(line for line in lines if len(line) < 1000) + good
        n_lines = sum(len(line) < 1000 for line in lines)
        bad[f"rejected_{number}.json"] = (content, "", 2, {reason: n_lines})
    return bad


def write_samples() -> None:
    bad = FOLDER / "bad"
    bad.mkdir(parents=True, exist_ok=True)
    printed = subprocess.run(
        ["sc_warts2json", SAMPLES / "warts" / "sample.warts"], capture_output=True, check=True
    ).stdout
    (FOLDER / "sample.json").write_bytes(METADATA + printed)
    expected = {}
    for name, (content, error, n_traces, rejected) in _bad().items():
        (bad / name).write_bytes(content)
        expected[name] = {"error": error, "n_traces": n_traces, "rejected": rejected}
    (bad / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    write_samples()
