"""Node.js and the packages of package.json, for suites that need them."""

from scoregate.features.setup.javascript.installer import Installer
from scoregate.features.setup.javascript.preparation import JavaScript, find_javascript, names_node

__all__ = ["Installer", "JavaScript", "find_javascript", "names_node"]
