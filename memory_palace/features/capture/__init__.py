"""What an agent wants to keep: into its inbox, once, where it is found again."""
