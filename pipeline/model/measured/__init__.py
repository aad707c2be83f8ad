"""What inputs hold and how they were read: traces, observations, host names, mapped shares."""
