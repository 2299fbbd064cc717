"""The verbs that make a palace and keep it up: index, status, doctor, init, models, config, serve.

What they do is the engine's (``Palace.index``, ``status``, ``doctor``, ``watch``); here it is said
what came of it, which model would serve the notes better, and what to do next.
"""
