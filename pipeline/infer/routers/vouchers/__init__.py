"""What traces show that vouches for two addresses being of one router."""
