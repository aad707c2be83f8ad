"""Traces through the networks of ``pipeline.generate.networks``, each made by a seed.

``python -m tests.oracles.networks KIND... --seeds FIRST-LAST --into FOLDER [field=value ...]``.
"""
