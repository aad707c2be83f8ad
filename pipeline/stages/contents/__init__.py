"""What is in a store, without a run: its snapshots, an AS, an address, graphs for other tools."""
