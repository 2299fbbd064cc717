"""The live page of a palace: the plan on a loopback address, with search by meaning and recall."""
