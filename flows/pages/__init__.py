"""What people see of flow runs: the start page and the reports, progress, artifacts."""
