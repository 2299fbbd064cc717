"""``python -m memory_palace``."""

from memory_palace.cli.app import main

main()
