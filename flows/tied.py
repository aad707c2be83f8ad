"""Becomes another program that ends with the process that started it, however that ends.

``python -m flows.tied PARENT PROGRAM [ARGUMENT]...``: Linux sends SIGTERM when the thread that
started it is gone, so start it from a main thread. Elsewhere only the parent can end it.
"""

from __future__ import annotations

import os
import sys

from pipeline.stopping import end_with_parent


def tied(words: list[str]) -> list[str]:
    """Words of a command that runs ``words`` as a child that does not outlive this process."""
    return [sys.executable, "-m", "flows.tied", str(os.getpid()), *words]


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then become the program; the tie lasts through that."""
    parent, *words = arguments
    if not end_with_parent(int(parent)):
        return
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
