"""Tables of widths: diameters, radii, eccentricities, and bounds of them."""
