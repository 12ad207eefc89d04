# Everything a contributor types. The environment is made by scripts/bootstrap, from the pins in constraints.txt.
SHELL := /bin/bash
BIN := .venv/bin

# A mixed dozen of both domains: what `make demo` judges.
DEMO := $(addprefix candidates/, \
	scipy/gamma-rate-quantile.yaml scipy/hull-sphericity.yaml scipy/natural-spline-integral.yaml \
	scipy/grain-depth-map.yaml scipy/bessel-zero-weighted-sum.yaml scipy/blasius-wall-shear.yaml \
	scipy/pendulum-period-ratio.yaml fenicsx/item-0023.yaml fenicsx/nedelec-tetrahedron-error.yaml \
	fenicsx/furnace-wall-three-conditions.yaml fenicsx/dg-upwind-outflow.yaml \
	fenicsx/stokes-cavity-mean-free-pressure.yaml)

.PHONY: demo test test-slow test-oldest test-sandbox-user attacks-page lint types bench constraints clean

demo: .venv/.ready
	$(BIN)/toolgate model fetch
	scripts/demo $(DEMO)

test: .venv/.ready .venv/agents/.ready
	$(BIN)/toolgate model fetch
	$(BIN)/pytest -n 2 -m "not slow" tests

# The rest: every attack, every candidate warm and cold, benchmarks, models, bare installs.
test-slow: .venv/.ready .venv/agents/.ready .venv/exporters/.ready
	$(BIN)/toolgate model fetch
	$(BIN)/pytest -n 2 -m slow tests

# The plugin's own tests again, on the oldest supported pytest.
test-oldest: .venv/.ready .venv/agents/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--upgrade --target .venv/oldest -r tests/pytest-9.1.txt
	PYTHONPATH=$(CURDIR)/.venv/oldest $(BIN)/python -m pytest -n 2 -m "not slow" tests/plugin

# The sandbox's tests once more by somebody who is not root, where root types this.
test-sandbox-user: .venv/.ready
	scripts/as-user $(BIN)/pytest -n 2 tests/sandbox

# Run every attack and write docs/attacks.md from what it came to.
attacks-page: .venv/.ready
	PYTHONPATH=tests $(BIN)/python -m sandbox.attacks

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/toolgate lint candidates seeds pytest_toolgate/domains/scipy/seeds

types: .venv/.ready
	$(BIN)/mypy

bench: .venv/.ready
	$(BIN)/python bench/collect.py
	$(BIN)/python bench/screens.py
	$(BIN)/python bench/verify.py
	$(BIN)/python bench/memory.py
	$(BIN)/python bench/pool.py

# Needs uv; the pins carry hashes and no index address.
constraints:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.12 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet --output-file constraints.txt

.venv/.ready: scripts/bootstrap constraints.txt pyproject.toml
	scripts/bootstrap

.venv/agents/.ready: .venv/.ready scripts/install-agents
	scripts/install-agents

.venv/exporters/.ready: .venv/.ready scripts/install-exporters $(wildcard tests/exporters/pins/*.txt)
	scripts/install-exporters

clean:
	rm -rf .venv .toolgate accepted build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
