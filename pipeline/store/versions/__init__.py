"""The files of one version of a snapshot: names, manifest, locks, and who holds it open."""
