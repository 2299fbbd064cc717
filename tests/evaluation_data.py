"""Where question sets and vaults lie that are no part of the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("PALACE_BENCH_DATA", ROOT.parent / "shared" / "data"))
GARDEN = DATA / "vaults" / "jackyzha0-garden"
