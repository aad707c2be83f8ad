"""Stages wire the modules together: files -> snapshot -> searches -> reports.

The command line and the flows call the functions of these modules and nothing below them. Each
module imports what it alone needs: seconds, which no other stage has to spend.
"""
