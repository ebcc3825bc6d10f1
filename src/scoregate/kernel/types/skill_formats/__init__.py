"""The cases of skills in the formats of other tools."""
