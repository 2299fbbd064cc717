"""The adversarial set for verification: what answers claim, and whether a memory bears it out."""
