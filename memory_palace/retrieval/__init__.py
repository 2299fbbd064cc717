"""A question in, ranked hits out, with the reason for every rank."""
