"""How the suites' Python environment is installed from the project's files. Nothing here runs a command."""

# Keywords of the setting `install`.
AUTO, NONE, NODE = "auto", "none", "node"
