"""The page that shows runs: the newest or any two, and the one that is being made; on loopback alone."""
