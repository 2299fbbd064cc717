"""The palace as a plan that one can look at: gathered, laid out, and written as one page."""
