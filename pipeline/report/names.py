"""Names in a folder of a report that more than one module knows."""

REPORT = "report.json"
ASES = "ases.parquet"  # of a report; a snapshot has a file of that name with other columns
ADDRESSES = "addresses"  # folder of scripts with numbers as names
