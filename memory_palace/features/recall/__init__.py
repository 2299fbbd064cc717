"""Recall the notes that an utterance refers to, without being asked; often there are none."""
