"""The page where people judge: battles that wait for them, and what judges have said; on loopback alone."""
