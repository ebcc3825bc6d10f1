"""Files that other tools wrote, read in pieces and within limits."""
