"""Whether notices can be sent, said when nights begin and not after the first that failed."""

from __future__ import annotations

import os
import shutil
import urllib.error
import urllib.parse
from http import HTTPStatus

from flows.runs.api import Api
from pipeline.config import NotifyConfig


def not_ready(config: NotifyConfig, api: Api) -> list[str]:
    """What a config names that is not there, a line each; nothing if Prefect does not answer."""
    blocks = [name for name in config.notify if not _is_there(name, api)]
    lines = [
        f"there is no notification block {name} yet: make it before the next night "
        f"(docs/nightly.md#notices; `prefect block ls` lists all)"
        for name in blocks
    ]
    program = config.notify_command
    if program is not None and shutil.which(os.path.abspath(program)) is None:
        lines.append(f"{program} cannot be run: it is not there, or not executable")
    return lines


def _is_there(name: str, api: Api) -> bool:
    kind, _, block = (urllib.parse.quote(part, safe="") for part in name.partition("/"))
    try:
        api.get(f"/block_types/slug/{kind}/block_documents/name/{block}")
    except urllib.error.HTTPError as error:
        with error:
            return error.code != HTTPStatus.NOT_FOUND
    except OSError:
        pass
    return True
