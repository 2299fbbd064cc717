"""Store texts in an agent's inbox, without repetitions."""
