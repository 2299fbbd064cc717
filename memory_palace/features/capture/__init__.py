"""Remember a text: into an agent's inbox, once, where it is found again."""
