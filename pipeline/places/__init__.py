"""Stores and reports at a URL: each has a mirror on this disk, which all other code works on.

The mirror of ``s3://bucket/store`` is a folder below ``mirrors()``, and the mirror of an object is
the path of the same name in it, so either follows from the other. See docs/adr/0012-places.md.
"""

from pipeline.places.urls import folder_of, in_one_line, shown, url_of, with_urls

__all__ = ["folder_of", "in_one_line", "shown", "url_of", "with_urls"]
