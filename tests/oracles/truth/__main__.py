"""``python -m tests.oracles.truth``; what several processes run is where each can import it."""

import sys

from tests.oracles.truth.command import main

if __name__ == "__main__":
    sys.exit(main())
