"""Pages about flow runs: the start page, reports, progress, artifacts."""
