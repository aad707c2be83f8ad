"""Which addresses sit on one router: alias files, point-to-point links."""
