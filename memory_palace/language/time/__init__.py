"""How time is read from text: ``reading.find_times``, whose values stand in ``spans``."""
