"""A local cluster of our own: one worker per GPU or core, which ends with the run."""
