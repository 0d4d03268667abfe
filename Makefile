# Needs Python >= 3.11 with pip, and make. Each target makes its own environment in .venv and reuses it until a pyproject.toml
# changes.  PYTHON=python3.12 chooses another interpreter (the environment is then .venv-python3.12).

PYTHON ?= python3
VENV   := .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.stamp-dev
PEERS  := $(VENV)/.stamp-peers
ROOMS  := quadrants-core quadrants-cpu quadrants-cuda quadrants-amdgpu quadrants-metal quadrants-vulkan
META   := pyproject.toml tools/requirements-dev.txt $(addsuffix /pyproject.toml,$(ROOMS))
JOBS   ?= 2
SECONDS ?= 600
PYTEST := $(PY) -m pytest -n $(JOBS) -q

.PHONY: help demo test test-all test-here test-version lint format docs fuzz bench-peers bench-counts dashboard clean venv

help:
	@echo "make demo         the main job: five-body solar system, molecular dynamics, heat equation, with plots"
	@echo "make test         lint, types and the quick tests"
	@echo "make test-all     every test, and those that depend on the version on every Python from 3.11 to 3.13 that is found"
	@echo "make fuzz         random programs against the interpreter, for SECONDS=600"
	@echo "make lint         ruff and mypy"
	@echo "make docs         the generated pages and parts: error codes, API reference, lists, stages"
	@echo "make bench-peers  the paired comparison with other compilers, NumPy and C"
	@echo "make bench-counts the kernels' counted instructions against the baseline; COUNTS=--quick, COUNTS=--update"
	@echo "make dashboard    pages of the results of bench-peers and asv, in benchmarks/results/html"
	@echo "make clean        remove environments, caches and build products"

venv: $(STAMP)

$(STAMP): $(META)
	$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --disable-pip-version-check -r tools/requirements-dev.txt \
		$(foreach room,$(ROOMS),-e ./$(room)) .
	@touch $@

$(PEERS): $(STAMP) tools/requirements-peers.txt
	$(PY) -m pip install -q --disable-pip-version-check -r tools/requirements-peers.txt
	@touch $@

demo: $(STAMP)
	$(PY) -m demo

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) tools/check_style.py

format: $(STAMP)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

test: lint
	$(PYTEST) -m "not slow"

test-here: $(STAMP)
	$(PYTEST)

test-version: $(STAMP)
	$(PYTEST) -m "not from_qir"

test-all: lint test-here
	$(PYTHON) tools/each_python.py --others -- $(MAKE) test-version

fuzz: $(STAMP)
	$(PY) tools/fuzz.py --seconds $(SECONDS)

docs: $(STAMP)
	$(PY) tools/error_pages.py
	$(PY) tools/api_pages.py
	$(PY) tools/doc_lists.py
	$(PY) tools/stage_pages.py
	$(PY) tools/vulkan_declarations.py

bench-peers: $(PEERS)
	$(PY) -m benchmarks.peers

bench-counts: $(STAMP)
	$(PY) -m benchmarks.counts $(COUNTS)

dashboard: $(STAMP)
	$(PY) -m benchmarks.dashboard

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
