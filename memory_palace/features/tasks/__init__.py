"""Forms that people and agents fill in: task cards and conflicts."""
