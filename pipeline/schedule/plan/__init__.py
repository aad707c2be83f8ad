"""Which work travels together, on which device, in which order. Pure."""
