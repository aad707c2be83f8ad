"""Addresses of real measurements are what docs/methodology.md says of them."""

import subprocess
import sys

from tests.oracles.real_ingresses import DOUBTFUL, rows
from tests.real_data import REPOSITORY, real_data


def test_the_doubtful_addresses_are_owned_as_the_page_says():
    for name in ("ip2as/asn-ipv4.csv.gz", "ip2as/asn-ipv6.csv.gz"):
        real_data(name)
    for measurement in DOUBTFUL:
        real_data(f"traceroute/{measurement}")
    page = (REPOSITORY / "docs" / "methodology.md").read_text()
    found = [f"| {' | '.join(row)} |" for row in rows(real_data(""))]
    assert len(found) == sum(map(len, DOUBTFUL.values()))
    assert [line for line in found if line not in page] == []


def test_the_table_is_made_without_pytest():
    lines = "import sys; sys.modules['pytest'] = None; import tests.oracles.real_ingresses"
    words = [sys.executable, "-c", lines]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
