"""Result files of other tools, read as events: a module for each format, in an explicit table."""
