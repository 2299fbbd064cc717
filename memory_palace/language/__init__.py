"""Pure functions of text: tokens, secrets, visible characters."""
