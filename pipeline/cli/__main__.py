"""``python -m pipeline.cli``: the same as ``hopscope``."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
