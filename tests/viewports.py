"""Sizes of windows in which tests look at pages."""

DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
