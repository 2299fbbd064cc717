"""The ``palace`` command: one file per verb; flags and printing, no logic."""
