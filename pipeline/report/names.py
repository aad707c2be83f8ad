"""Names in a folder of reports, and of one, that more than one module knows."""

NIGHTS_PAGE = "index.html"  # over all reports
REPORT = "report.json"
ASES = "ases.parquet"  # of a report; a snapshot has a file of that name with other columns
ADDRESSES = "addresses"  # folder of scripts with numbers as names
CHANGES = "changes"  # of a comparison, likewise
HISTORY = "history"  # likewise
PATHS = "paths"  # likewise, with a letter before some
ROUTERS = "routers"  # likewise
