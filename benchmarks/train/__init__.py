"""What a re-ranker is to be trained on: questions that we wrote, and the passages they ask for."""
