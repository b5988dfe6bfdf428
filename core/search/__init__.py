"""Search for a release that may leave: screening, race, and confirmation on new splits."""
