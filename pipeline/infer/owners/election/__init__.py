"""The election of owners: the AS of each router from all its links."""
