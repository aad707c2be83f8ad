"""Networks of known truth and the traces through them, of many kinds, each made by a seed.

``python -m tests.oracles.networks KIND... --seeds FIRST-LAST --into FOLDER [field=value ...]``.
"""
