"""The features of a palace as a program meets them: one attribute of ``Palace`` for each."""
