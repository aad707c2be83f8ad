"""Stages connect the modules: files -> snapshot -> searches -> reports.

The command line and the flows call the functions of these modules and nothing below them. Each
module imports only what it needs, since imports take seconds.
"""
