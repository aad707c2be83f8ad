"""Tables of single nodes: their files, and which of them no ingress reaches."""
