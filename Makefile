# Each target sets up what it needs and runs. VENV= (empty) uses the python3 on PATH as it is.
VENV ?= .venv
PYTHON ?= python3
HAS_GPU := $(shell nvidia-smi -L >/dev/null 2>&1 && echo yes)

ifeq ($(strip $(VENV)),)
RUN :=
READY :=
READY_DEV :=
READY_BENCH :=
READY_DOCS :=
else
RUN := $(VENV)/bin/
READY := $(VENV)/.ready-$(if $(HAS_GPU),gpu,cpu)
READY_DEV := $(VENV)/.ready-dev$(if $(HAS_GPU),-gpu,)
READY_BENCH := $(VENV)/.ready-bench
READY_DOCS := $(VENV)/.ready-docs
endif
PY := $(RUN)python3
HOPSCOPE := $(PY) -m pipeline.cli

# Quiet and offline: an embedded Prefect server of our own, no analytics.
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DO_NOT_TRACK := 1
export PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS := 180
export PREFECT_HOME ?= $(CURDIR)/.prefect

# Processes that run tests side by side. More than two cores: tests of servers, clusters and browsers
# wait, for starts, limits and quiet pages, and leave a core idle meanwhile. Each takes 0.9 GB.
TESTERS ?= $(shell awk '/^MemAvailable/ {n = $$2 < 10000000 ? 3 : 5} END {print n ? n : 3}' /proc/meminfo 2>/dev/null || echo 3)
# Compiled test modules are kept for the next run, and for the processes that run beside.
unexport PYTHONDONTWRITEBYTECODE

# Pythons for which releases have compiled code: those that are here.
PYTHONS ?= $(shell for minor in 11 12 13 14; do command -v python3.$$minor; done)

# Seed of the cases that make soak draws.
SEED ?= $(shell date +%s)

.PHONY: help setup demo test quick start-up try-newest test-unit soak test-gpu test-pandas lint generated docs dist compiled bench serve lock clean

help:
	@echo "make demo      run the nightly job and one on a sample; print the paths of the reports"
	@echo "make test      run every test (GPU tests are skipped, with a reason, without a GPU)"
	@echo "make quick     lint, and the unit tests of the rooms that differ from BEFORE (default: HEAD~1)"
	@echo "make test-unit run the tests that start no cluster, server or browser"
	@echo "make soak      run every case of the tests with many cases; results go to benchmarks/results/"
	@echo "make test-gpu  run the tests on a GPU machine; fails without a GPU"
	@echo "make test-pandas run the tests that need pandas, which is in no other lock"
	@echo "make start-up  time the command line against BEFORE; results go to benchmarks/results/"
	@echo "make try-newest run the unit tests with the newest versions of all dependencies"
	@echo "make lint      ruff, mypy and the import contracts"
	@echo "make generated rewrite what is made from the sources: help files and parts of the docs"
	@echo "make docs      build the documentation site in site/; warnings are errors"
	@echo "make dist      build what a package index takes in dist/; ADDRESS=https://... of the repository"
	@echo "make compiled  compile what releases bring along, for PYTHONS=\"python3.11 ...\" and GPUs"
	@echo "make bench     run every benchmark; results go to benchmarks/results/, plots to docs/"
	@echo "make serve     Prefect server and worker, reports, Dask dashboard, on 127.0.0.1"

$(VENV)/bin/python3:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hopscope needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

# $(1): lock file, $(2): stamp. What is already there in the locked version is left alone. uv, where it
# is on PATH, loads packages in parallel: 5 s instead of a minute; pip does not, and shows its progress.
UV := $(shell command -v uv 2>/dev/null)
define install
	@echo "installing the packages of $(1) in $(VENV)"
	$(if $(UV),$(UV) pip install --python $(VENV)/bin/python3 -r $(1) ||) \
	  $(VENV)/bin/python3 -m pip install --disable-pip-version-check --progress-bar on -r $(1)
	$(VENV)/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(2)
endef

$(VENV)/.ready-cpu: locks/cpu.txt pyproject.toml | $(VENV)/bin/python3
	$(call install,locks/cpu.txt,$@)
$(VENV)/.ready-gpu: locks/gpu.txt pyproject.toml | $(VENV)/bin/python3
	$(call install,locks/gpu.txt,$@)
$(VENV)/.ready-dev: locks/dev.txt pyproject.toml | $(VENV)/bin/python3
	$(call install,locks/dev.txt,$@)
	@touch $(VENV)/.ready-cpu
$(VENV)/.ready-dev-gpu: locks/gpu.txt pyproject.toml | $(VENV)/bin/python3
	$(call install,locks/gpu.txt,$@)
	@touch $(VENV)/.ready-gpu

# Without the other programs the benchmarks still run, and say that they are not installed.
$(VENV)/.ready-bench: locks/bench.txt $(READY_DEV)
	$(VENV)/bin/python3 -m pip install -q --disable-pip-version-check --only-binary igraph,networkit \
	  -r locks/bench.txt || echo "igraph and NetworKit cannot be installed here"
	@touch $@

$(VENV)/.ready-docs: locks/docs.txt pyproject.toml | $(VENV)/bin/python3
	$(call install,locks/docs.txt,$@)

setup: $(READY)

# A measured lab network, and the nightly flow itself, on Prefect's embedded server, on a BRITE topology.
demo: $(READY)
	@mkdir -p demo/input
	$(HOPSCOPE) generate top-down --routers 100000 --ases 50 --seed 1 --out demo/input/internet.brite
	$(PY) -m flows.nightly demo/input/internet.brite --store demo/store --out demo/reports --snapshot internet
	$(HOPSCOPE) run data/samples/lab --store demo/store --out demo/reports --snapshot lab \
	  --ip2as data/samples/lab/lab.pfx2as --as-names data/samples/lab/as_names.json --allow-special 198.18.0.0/15

serve: $(READY)
	$(PY) -m flows.serve --with-parent

bench: $(READY_BENCH)
	@for program in benchmarks/bench_*.py; do echo "== $$program"; $(PY) $$program || exit 1; done
	$(PY) benchmarks/pages/plot_searches.py
	$(PY) benchmarks/pages/diameter_page.py
	$(PY) benchmarks/pages/plot_twins.py
	$(PY) benchmarks/pages/trees_page.py

clean:
	rm -rf demo site dist .pandas .prefect

# A file's tests stay together, in their order: they share clusters and servers.
SIDE_BY_SIDE := -n $(TESTERS) --dist loadfile --no-loadscope-reorder

# $(1): a command, whose temporary files are kept in memory where 4 GB are free there: tests make sure
# that thousands of small files are on disk, which takes some disks 20 ms each. They stay if it fails.
define in_memory
@folder=; \
if [ -z "$$TMPDIR" ] && [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null; then \
  folder=$$(mktemp -d /dev/shm/hopscope-XXXXXX) && chmod 711 $$folder && export TMPDIR=$$folder; \
fi; \
echo $(1); $(1); status=$$?; \
if [ $$status = 0 ] && [ -n "$$folder" ]; then rm -rf "$$folder"; fi; \
exit $$status
endef

# Compiled first: numba's cache has no lock between processes.
test: $(READY_DEV)
	$(PY) -m tests.compile_ahead
	$(call in_memory,$(PY) -m pytest $(SIDE_BY_SIDE))

# In seconds what a change breaks first; tests/changed.py says which rooms.
BEFORE ?= HEAD~1
quick: lint
	@rooms=$$($(PY) -m tests.changed $(BEFORE)) || exit 1; \
	if [ -n "$$rooms" ]; then $(PY) -m tests.compile_ahead && $(PY) -m pytest -q -n $(TESTERS) --dist loadfile $$rooms; \
	else echo "no room differs from $(BEFORE)"; fi

# When imports of the command line change: this state and BEFORE, ten runs of each in turn.
start-up: $(READY_DEV)
	@folder=$$(mktemp -d) && git worktree add -q --detach $$folder/before $(BEFORE) && \
	$(PY) benchmarks/bench_startup.py --repository $$folder/before --repository . --repeats 10; \
	status=$$?; git worktree remove --force $$folder/before; rmdir $$folder; exit $$status

# In an environment of its own, build/newest: what differs from the lock, and what that breaks.
try-newest: $(READY_DEV)
	$(PY) -m tests.newest

test-unit: $(READY_DEV)
	$(PY) -m tests.compile_ahead
	$(call in_memory,$(PY) -m pytest $(SIDE_BY_SIDE) tests/unit)

# Every case of the tests with many cases; make test runs a few of each.
soak: $(READY_DEV)
	$(PY) -m tests.compile_ahead
	HOPSCOPE_SOAK=1 $(PY) -m pytest $(SIDE_BY_SIDE) -m soak --hypothesis-seed=$(SEED)

test-gpu: $(READY_DEV)
	$(PY) -m pytest --require-gpu

# pandas in a folder of its own: pyarrow imports it in every process that finds it.
test-pandas: $(READY_DEV)
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --upgrade --target .pandas -r locks/pandas.txt
	PYTHONPATH=.pandas $(PY) -c "import pandas"
	PYTHONPATH=.pandas $(PY) -m pytest -q -k pandas tests/unit/hopscope

lint: $(READY_DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(RUN)lint-imports

# Tests fail where this would change something.
generated: $(READY_DEV)
	$(PY) -m tests.generated

# Open site/index.html, or for search: python3 -m http.server --bind 127.0.0.1 --directory site
docs: $(READY_DOCS)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet --strict
	$(PY) -m tests.offline_pages site

# What a package index takes, with absolute links in the README, a Containerfile and the citation; nothing is uploaded.
dist: $(READY)
	$(PY) -m deploy.distribution dist $(ADDRESS)
	$(PY) -m deploy.trial dist $(PYTHONS)

# What releases bring along: for each of PYTHONS, commands like python3.12, and for GPUs. To be committed.
# Folders in build/ keep what was compiled: a second time only what changed is.
compiled: $(READY_DEV)
	for python in $(PYTHONS); do \
	  name=build/compiled-$$($$python -c 'import sys; print(*sys.version_info[:2], sep=".")') && \
	  $$python -m venv $$name && $$name/bin/python3 -m pip install -q --disable-pip-version-check -r locks/cpu.txt && \
	  $$name/bin/python3 -m deploy.compiled build/compiled-cache || exit 1; \
	done
	$(PY) -m deploy.cubins

# Needs uv. Universal: one file for Python 3.11 to 3.14.
lock:
	uv pip compile -q --universal --python-version 3.11 pyproject.toml --extra build --extra serve --no-emit-index-url --no-header -o locks/cpu.txt
	uv pip compile -q --universal --python-version 3.11 pyproject.toml --extra build --extra serve --extra dev -c locks/cpu.txt --no-emit-index-url --no-header -o locks/dev.txt
	uv pip compile -q --universal --python-version 3.11 pyproject.toml --extra build --extra serve --extra dev --extra bench -c locks/dev.txt --no-emit-index-url --no-header -o locks/bench.txt
	uv pip compile -q --universal --python-version 3.11 pyproject.toml --extra build --extra docs -c locks/dev.txt --no-emit-index-url --no-header -o locks/docs.txt
	uv pip compile -q --universal --python-version 3.11 pyproject.toml --extra build --extra serve --extra dev --extra gpu -c locks/dev.txt --no-emit-index-url --no-header -o locks/gpu.txt
	echo pandas | uv pip compile -q --universal --python-version 3.11 --no-deps -c locks/dev.txt --no-emit-index-url --no-header -o locks/pandas.txt -
