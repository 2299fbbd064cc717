"""Whether an answer says what passages say: quoted, supported, contradicted, or not found."""
