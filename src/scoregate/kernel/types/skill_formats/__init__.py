"""The cases of skills in the formats of other tools."""

SKILL_FILE, YAML_FILE = "SKILL.md", "eval.yaml"
