"""The address of ``--scheduler``; checked before anything else is done, without a connection."""

from __future__ import annotations

import re

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.schedule.cluster.tls_files import tls_files

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ucx)://)?(?:\[[0-9A-Fa-f:.%\w]+\]|[^\s/:\[\]@?#]+):(\d{1,5})")


def check_cluster(config: AnalyzeConfig) -> None:
    """Check the address and the credentials of the cluster of a run, if it is given one.

    Raises
    ------
    UsageError
        As ``check_address``, ``tls_files`` and ``credentials.configured`` do.
    """
    files = tls_files(config)
    if config.scheduler is None:
        return
    check_address(config.scheduler)
    if files is None:
        from pipeline.schedule.cluster.credentials import configured  # loads Dask

        configured(config.scheduler)


def check_address(address: str) -> None:
    """Refuse an invalid address before Dask tries it, which would take long and leave threads.

    Raises
    ------
    UsageError
        If it is none.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[1]) < 65536:
        raise UsageError(
            f"--scheduler {address!r}: give tcp://HOST:PORT (or tls://, ucx://), "
            "for example tcp://127.0.0.1:8786"
        )
