"""Access for agents: tools, hooks, an MCP server, plug-ins, and the text that agents read."""
