"""What ``ingest`` reads: files and folders, traces of many files at once, tables beside them."""
