"""Metabolism: distill, promote, demote and archive notes by countable rules and gates."""
