"""Structure of passages, after source document 001: names, phrases, relations, wishes.

Off by default: `palace index --structure` keeps the facts, and `--profile structured` weighs the
signals. It reaches the engine through ``memory_palace.signals`` alone, as any extension does.
"""
