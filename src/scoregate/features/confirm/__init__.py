"""`confirm`: newly failing cases run again."""
