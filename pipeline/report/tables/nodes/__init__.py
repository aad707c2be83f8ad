"""Tables of single nodes: names, files, and what ingresses reach."""
