"""The one server of a palace: a Unix socket for command lines, a loopback port for the page."""
