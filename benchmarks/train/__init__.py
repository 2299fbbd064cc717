"""The recipe of minilm-rank: what it is trained on, how, and what comes out."""
