"""What tables about addresses and ASes say, as it is looked up."""
