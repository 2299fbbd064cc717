"""The ``palace`` command: entry point, declaration of verbs, completion and error output."""
