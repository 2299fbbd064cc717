# Each target is the only command a fresh machine needs: Python 3.11 or newer with venv,
# make, and a package index. Another interpreter: `make demo PYTHON=/path/to/python3.12`.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Each file of tests in one of two processes.
IN_PARALLEL = -n 2 --dist loadfile
QUESTION ?= why did we stop using the message broker

.PHONY: demo test slow browser postgres lint bench promises tables docs pictures clean

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
	$(BIN)/python -m pytest $(IN_PARALLEL)

slow: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/palace models fetch e5
	$(BIN)/python -m pytest -m slow $(IN_PARALLEL)

# In the Chromium of the system; .ci/run installs Debian's.
browser: .venv/installed-test .venv/installed-browser
	$(BIN)/python -m pytest -m browser tests/browser $(IN_PARALLEL) --junitxml=build/browser.xml

# A real server, from a wheel: on a Unix socket, in a folder of its own.
postgres: .venv/installed-test .venv/installed-postgres .venv/installed-postgres-test
	$(BIN)/python -m pytest -m postgres tests/postgres $(IN_PARALLEL) --junitxml=build/postgres.xml

lint: .venv/installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/palace bench scale

# PALACE_BENCH_DATA names the folder of question sets; parts without their data are skipped.
promises: .venv/installed-test
	$(BIN)/palace models fetch minilm
	$(BIN)/palace models fetch e5
	$(BIN)/palace bench promises --all

# Prints the tables of references/performance.md that are of question sets.
DATA = $(PALACE_BENCH_DATA)
LOCOMO = bench locomo $(DATA)/locomo/locomo_dev.json
GOLD = --gold $(DATA)/locomo/gold_dev.jsonl
CHATS = bench longmemeval $(DATA)/longmemeval/longmemeval_s_dev.json
tables: .venv/installed-test
	set -e; for model in minilm e5; do \
	  echo "# $$model"; \
	  $(BIN)/palace $(LOCOMO) $(GOLD) --product --embedder $$model; \
	  $(BIN)/palace bench qmsum $(DATA)/qmsum/val.jsonl --product --embedder $$model; \
	  $(BIN)/palace $(CHATS) --product --embedder $$model; \
	  $(BIN)/palace bench pages $(DATA)/multilingual-help --embedder $$model; \
	  $(BIN)/palace bench pages $(DATA)/multilingual-help --across --embedder $$model; \
	  $(BIN)/palace $(LOCOMO) $(GOLD) --embedder $$model; \
	  $(BIN)/palace $(LOCOMO) $(GOLD) --unit session --embedder $$model; \
	  $(BIN)/palace $(LOCOMO) --mode hybrid --embedder $$model; \
	  $(BIN)/palace bench beir $(DATA)/beir/scifact --embedder $$model; \
	  $(BIN)/palace bench qmsum $(DATA)/qmsum/val.jsonl --embedder $$model; \
	  $(BIN)/palace $(CHATS) --embedder $$model; \
	  $(BIN)/palace bench tune $(DATA)/locomo/locomo_dev.json $(GOLD) --embedder $$model; \
	done

docs: .venv/installed-run
	$(BIN)/python -m memory_palace.cli.reference > references/cli.md

# The plan is photographed in the Chromium of the system.
pictures: .venv/installed-test .venv/installed-browser
	$(BIN)/palace models fetch minilm
	$(BIN)/python tests/pictures.py references/pictures

clean:
	rm -rf .venv build palace/.index .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

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
