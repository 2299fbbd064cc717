"""``python -m tests.mutants [NAME …]``."""

from tests.mutants.mutating import main

raise SystemExit(main())
