"""MCP servers under test: their tools are called directly, or by a model that answers questions with them."""

from typing import TYPE_CHECKING

from scoregate.kernel.types.lazy_names import make_dir, make_getattr

if TYPE_CHECKING:
    from scoregate.mcp_servers.definition import ServerDefinition
    from scoregate.mcp_servers.task import McpServer, mcp_server

__all__ = ["McpServer", "ServerDefinition", "mcp_server"]

__dir__ = make_dir(__name__)
__getattr__ = make_getattr(
    __name__,
    {
        "scoregate.mcp_servers.definition": ("ServerDefinition",),
        "scoregate.mcp_servers.task": ("McpServer", "mcp_server"),
    },
)
