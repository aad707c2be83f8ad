"""What files of measurements hold: traces, observations of links, origins of prefixes."""
