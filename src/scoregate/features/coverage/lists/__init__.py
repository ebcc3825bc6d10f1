"""Lists of tools: results of MCP servers, descriptions of APIs in OpenAPI, and tools in Python files."""
