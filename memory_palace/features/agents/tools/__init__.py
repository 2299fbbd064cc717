"""What an agent can ask a palace: six tools, each a function that gives back text."""
