# Each target is the only command a fresh machine needs: Python 3.11 or newer with venv,
# make, and a package index. Another interpreter: `make demo PYTHON=/path/to/python3.12`.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Each file of tests in one of three processes: what waits for a server leaves two cores idle.
IN_PARALLEL = -n 3 --dist loadfile --no-loadscope-reorder
QUESTION ?= why did we stop using the message broker

.PHONY: demo test long browser postgres lint dist bench promises tables docs pictures clean

demo: .venv/installed-run
	$(BIN)/palace models fetch minilm
	$(BIN)/palace -C . index
	@echo
	$(BIN)/palace -C . query "$(QUESTION)"
	@echo
	$(BIN)/palace -C . query "$(QUESTION)" -k 1 --neighbors 0 --details

# Compiled first, as pip does: a hook has no time for it.
test: .venv/installed-test
	$(BIN)/python -m compileall -q memory_palace
	$(BIN)/palace models fetch minilm
	$(BIN)/palace models fetch e5
	$(BIN)/python -m pytest $(IN_PARALLEL) --ignore=tests/browser --ignore=tests/store

long: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/palace models fetch e5
	$(BIN)/python -m pytest -m long $(IN_PARALLEL)

# In the Chromium of the system; .ci/run installs Debian's.
browser: .venv/installed-test .venv/installed-browser
	$(BIN)/python -m pytest -m browser tests/browser $(IN_PARALLEL) --junitxml=build/browser.xml

# A real server, from a wheel: on a Unix socket, in a folder of its own.
postgres: .venv/installed-test .venv/installed-postgres .venv/installed-postgres-test
	$(BIN)/python -m pytest -m postgres tests/store $(IN_PARALLEL) --junitxml=build/postgres.xml

lint: .venv/installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# DIST=--quick leaves the slow ways to install out, as scripts/check_dist.py says.
dist: .venv/installed-dist
	rm -rf dist
	$(BIN)/uv build --quiet
	$(BIN)/uvx --quiet twine check --strict dist/*
	$(BIN)/python scripts/check_dist.py $(DIST)

bench: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/python -m benchmarks scale

# PALACE_BENCH_DATA names the folder of question sets; parts without their data are skipped.
promises: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/palace models fetch e5
	$(BIN)/python -m benchmarks promises

# Prints the tables of references/measurements.md that are of question sets.
DATA = $(PALACE_BENCH_DATA)
MEASURE = $(BIN)/python -m benchmarks
LOCOMO = locomo $(DATA)/locomo/locomo_dev.json --gold $(DATA)/locomo/gold_dev.jsonl
CHATS = longmemeval $(DATA)/longmemeval/longmemeval_s_dev.json
tables: .venv/installed-test
	set -e; for model in minilm e5; do \
	  echo "# $$model"; \
	  $(MEASURE) $(LOCOMO) --product --embedder $$model; \
	  $(MEASURE) qmsum $(DATA)/qmsum/val.jsonl --product --embedder $$model; \
	  $(MEASURE) $(CHATS) --product --embedder $$model; \
	  $(MEASURE) pages $(DATA)/multilingual-help --embedder $$model; \
	  $(MEASURE) pages $(DATA)/multilingual-help --across --embedder $$model; \
	  $(MEASURE) $(LOCOMO) --embedder $$model; \
	  $(MEASURE) $(LOCOMO) --unit session --embedder $$model; \
	  $(MEASURE) beir $(DATA)/beir/scifact --embedder $$model; \
	  $(MEASURE) qmsum $(DATA)/qmsum/val.jsonl --embedder $$model; \
	  $(MEASURE) $(CHATS) --embedder $$model; \
	done

docs: .venv/installed-test
	PYTHONPATH=. $(BIN)/python tests/command_reference.py > references/cli.md
	PYTHONPATH=. $(BIN)/python tests/json_schemas.py

# The plan is photographed in the Chromium of the system.
pictures: .venv/installed-test .venv/installed-browser
	$(BIN)/palace models fetch minilm
	$(BIN)/python tests/pictures.py references/pictures

clean:
	rm -rf .venv build dist palace/.index .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# A stamp per set of extras: installing again only when pyproject.toml has changed.
.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; name one: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed-run: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@
