# The front door. Every target installs what it is missing (Debian 12 packages), so a fresh clone needs nothing first.
#
#   make demo         build the release binary; deliver examples/demo to three clusters of one process, with an approval in between
#   make demo-rollout  roll a version out in five batches, its traffic split by a real nginx and judged by a real Prometheus; then a bad
#                     one, which is caught and taken back
#   make demo-pipeline  one chart through dev, staging and prod by pull requests at a small forge: two promotions, one stopped by a gate,
#                     one rolled back
#   make demo-package  a blueprint to 21 clusters through gates, auto-propose and approval 1 % → 5 % → all; its second version is stopped by
#                     its error budget
#   make demo-workflow  run examples/release.yaml, a graph of Jobs, to its end
#   make test         build (dev) and run every test; the last line is "N passed, N failed"
#   make sanitizers   the same tests with address and undefined-behaviour sanitizers; the store's, and templates rendered by several
#                     threads, also with the thread sanitizer
#   make test-wire    real clients (every kubectl found, python3-kubernetes, @kubernetes/client-node, helm) against `slipway up`
#   make test-wire-flux  Flux's real controllers (Go modules) against `slipway up`: install, upgrade, failure, rollback, a folder of Git
#   make test-wire-kpt  kpt itself: packages fetched, rendered, upgraded and applied by it and by Slipway, file for file the same
#   make test-wire-vela  what KubeVela's command line asks, command by command, against `slipway up`
#   make test-wire-porch  transcripts of Porch's client, played with slipway pkg and slipway repo
#   make test-attack  every attack of tests/attack beside an object of each family of another tenant, which reaches its end in time; delays
#                     of GETs, and memory a minute later (make test plays the attacks themselves)
#   make test-writers  100 writers flip conditions of one package revision 100 times each, by apply and by PUT (short form in make test)
#   make test-load    `slipway up` killed 100 times under load, 1,000 watchers, 5,000 idle connections (short form in make test)
#   make test-split   the split of traffic through a real nginx, 20,000 requests per weight (2,000 in make test); a whole rollout and a
#                     whole revert of eight processes at 200 requests a second (of three in make test)
#   make conformance  only the tests that read $SLIPWAY_CORPUS, with their "suite passed/total" lines
#   make conformance-kube  of these only the ones that read $SLIPWAY_CORPUS/kube
#   make conformance-cue   of these only the ones that read $SLIPWAY_CORPUS/cue, against their bars
#   make conformance-application  every manifest of $SLIPWAY_CORPUS/kubevela with an end, against what the real one did and the bars;
#                     what differs is written to out/oracle.txt
#   make conformance-workloads  every scenario of $SLIPWAY_CORPUS/kube/workloads.jsonl on the controllers here, against what the real ones
#                     did and the bars; what differs is written to out/workloads.txt
#   make conformance-pipeline  recorded lives of Flux objects (read, and lived on a server under the view), health by kind and Weave's
#                     objects of $SLIPWAY_CORPUS/pipelines, against the bars
#   make explore-pipeline  every fault at every point of the promotion controller and its git
#   make conformance-package  functions, renders, merges, tables, life-cycle vectors and Nephio's functions (as actors) of
#                     $SLIPWAY_CORPUS/packages, against the bars
#   make explore-rollout  every roll of up to 5 pods with a disturbance, of up to 8 without: states, transitions, violations
#   make conformance-rollout  every file of $SLIPWAY_CORPUS/rollouts against the bars: a line for each suite, a sum for each file, and
#                     what is not played, with the reason
#   make bench        measure, print, and write out/bench.json
#   make fuzz         run each fuzz target for FUZZ_SECONDS (default 60)
#   make check        formatting, clang-tidy of the files changed since CHECK_BASE (default: the last commit), rules of the house
#   make fmt          format the sources
#   make crds         write crds/*.yaml from the described structs
#   make release      only build out/release/slipway
#   make deps         only install what is missing
#
# UNITY=ON builds a new out/dev in batches of eight sources, which takes half the CPU; a touched source then costs its whole batch.
# Without it out/dev has one object per source; the release and sanitizer builds are always in batches. A folder stays as it began.

JOBS ?= $(shell nproc)
CHECK_BASE ?= HEAD
FUZZ_SECONDS ?= 60
UNITY ?= OFF
# Under sanitizers one in so many points of the simulator is tried: what they look for is on every way there.
SAMPLE ?= 60
# All test programs but the one that reads the sources.
# Programs that sanitized tests start.
SANITIZED_TOO = slipway
# Under the thread sanitizer: PROGRAM[:FILTER].
THREADED = store_test cue_threads_test:Threads.*:Cue.*thread*
SANITIZED = $$(grep -vx house_test out/asan/tests.txt)
DEMO ?= release
export SLIPWAY_CORPUS ?= $(abspath ../shared/corpus)

.PHONY: demo demo-rollout demo-pipeline demo-package demo-workflow test test-attack test-wire test-wire-flux test-wire-kpt test-wire-vela test-wire-porch test-load test-writers test-split sanitizers conformance conformance-kube conformance-cue conformance-application conformance-workloads conformance-pipeline conformance-package conformance-rollout explore-rollout explore-pipeline bench fuzz check fmt crds release deps

demo: out/$(DEMO)/build.ninja
	ninja -j $(JOBS) -C out/$(DEMO) slipway demo_service
	tools/demo out/$(DEMO) out/demo

demo-rollout: out/$(DEMO)/build.ninja
	@tools/deps demo
	ninja -j $(JOBS) -C out/$(DEMO) slipway demo_service demo_proxy demo_visitors
	tools/demo-rollout out/$(DEMO) out/demo-rollout

demo-pipeline: out/$(DEMO)/build.ninja
	ninja -j $(JOBS) -C out/$(DEMO) slipway demo_forge
	tools/demo-pipeline out/$(DEMO) out/demo-pipeline

demo-package: out/$(DEMO)/build.ninja
	ninja -j $(JOBS) -C out/$(DEMO) slipway
	tools/demo-package out/$(DEMO) out/demo-package

demo-workflow: release
	rm -rf out/demo-workflow
	out/release/slipway run -f examples/release.yaml --pod-runtime process --data-dir out/demo-workflow

release: out/release/build.ninja
	ninja -j $(JOBS) -C out/release slipway

test: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev slipway slipway_bench tests
	tools/run-tests out/dev

sanitizers: deps out/asan/build.ninja out/tsan/build.ninja
	ninja -j $(JOBS) -C out/asan $(SANITIZED_TOO) $(SANITIZED)
	ninja -j $(JOBS) -C out/tsan $(foreach one,$(THREADED),$(firstword $(subst :, ,$(one))))
	SLIPWAY_SIM_EVERY=$(SAMPLE) SLIPWAY_SIM_SEEDS=4 SLIPWAY_EXPLORE=small SLIPWAY_CORPUS_EVERY=8 tools/run-tests out/asan $(SANITIZED)
	tools/run-tests out/tsan $(foreach one,$(THREADED),'$(one)')

conformance: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev tests
	tools/run-tests out/dev --conformance

test-wire: deps out/dev/build.ninja
	tools/wire-clients out/tools
	ninja -j $(JOBS) -C out/dev slipway
	/usr/bin/python3 tests/wire/run.py --slipway out/dev/slipway --tools out/tools $(WIRE)

# Transcripts of Porch's client, own ones and those of $SLIPWAY_CORPUS/packages/porch/cli.
test-wire-porch: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev slipway
	/usr/bin/python3 tests/wire_porch/run.py --slipway out/dev/slipway

# kpt itself beside Slipway, over folders and against `slipway up`; skipped with a line where there is no kpt.
test-wire-kpt: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev slipway
	/usr/bin/python3 tests/wire_kpt/run.py --slipway out/dev/slipway

# Skipped with a line where the controllers cannot be built.
test-wire-flux: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev slipway
	@tools/flux-controllers out/tools/flux || { [ $$? -eq 3 ] && echo "skipped: test-wire-flux"; } && \
	if [ -x out/tools/flux/kustomize-controller ]; then \
	  /usr/bin/python3 tests/wire_flux/run.py --slipway out/dev/slipway --flux out/tools/flux; fi

test-wire-vela: deps out/dev/build.ninja
	tools/deps wire
	ninja -j $(JOBS) -C out/dev slipway
	/usr/bin/python3 tests/wire_vela/run.py --slipway out/dev/slipway

# The programs whose rooms read the kube part of the corpus, those that there are.
KUBE_SUITES = $$(grep -xE '(json|kube|cel|server)_test' out/dev/tests.txt)
conformance-kube: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev $(KUBE_SUITES)
	tools/run-tests out/dev --conformance $(KUBE_SUITES)

# Every suite over $SLIPWAY_CORPUS/cue, against the bars of tests/bars_cue.txt.
conformance-cue: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev cue_test
	tools/run-tests out/dev --conformance cue_test | tools/check-bars tests/bars_cue.txt

# Every manifest of $SLIPWAY_CORPUS/kubevela/oracle.jsonl, against the bars of tests/bars_oracle.txt.
conformance-application: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev application_test
	SLIPWAY_ORACLE_REPORT=$(abspath out/oracle.txt) tools/run-tests out/dev --conformance application_test \
	  | tools/check-bars tests/bars_oracle.txt

# Every scenario of $SLIPWAY_CORPUS/kube/workloads.jsonl, against the bars of tests/bars_workloads.txt.
conformance-workloads: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev workloads_test
	SLIPWAY_WORKLOADS_REPORT=$(abspath out/workloads.txt) tools/run-tests out/dev --conformance workloads_test \
	  | tools/check-bars tests/bars_workloads.txt

# Health, pipelines and the recorded lives of Flux objects of $SLIPWAY_CORPUS/pipelines, against the bars of tests/bars_pipeline.txt.
conformance-pipeline: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev delivery_pipeline_test pipeline_test
	SLIPWAY_PIPELINE_LIVES=1 tools/run-tests out/dev --conformance delivery_pipeline_test pipeline_test | tools/check-bars tests/bars_pipeline.txt

# Faults at every point of the promotion controller and its git; make test takes one in eight.
explore-pipeline: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev pipeline_test
	SLIPWAY_SIM_EVERY=1 out/dev/pipeline_test --gtest_filter='PromotionFaults.*'

# Functions, renders, merges and tables of $SLIPWAY_CORPUS/packages, against the bars of tests/bars_package.txt.
conformance-package: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev krm_test delivery_package_test nephio_test
	tools/run-tests out/dev --conformance krm_test delivery_package_test nephio_test | tools/check-bars tests/bars_package.txt

explore-rollout: deps out/release/build.ninja
	ninja -j $(JOBS) -C out/release delivery_wave_test
	SLIPWAY_EXPLORE=full out/release/delivery_wave_test --gtest_filter='Explore.*'

# Every file of $SLIPWAY_CORPUS/rollouts, against the bars of tests/bars_rollout.txt.
ROLLOUT_SUITES = delivery_wave_test delivery_gate_test delivery_probe_test delivery_rollout_test cluster_test rollout_test
conformance-rollout: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev $(ROLLOUT_SUITES)
	tools/run-tests out/dev --conformance $(ROLLOUT_SUITES) | tools/sum-suites rollouts | tools/check-bars tests/bars_rollout.txt

test-load: deps out/release/build.ninja release
	ninja -j $(JOBS) -C out/release up_test
	SLIPWAY_LOAD=full SLIPWAY_BINARY=out/release/slipway out/release/up_test

test-attack: deps out/release/build.ninja release
	ninja -j $(JOBS) -C out/release attack_test
	SLIPWAY_ATTACK=full SLIPWAY_BINARY=out/release/slipway out/release/attack_test

test-writers: deps out/release/build.ninja
	ninja -j $(JOBS) -C out/release package_test
	SLIPWAY_PACKAGE_FLIPS=100 out/release/package_test --gtest_filter='PackageWriters.*'

test-split: deps out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev slipway nginx_test
	SLIPWAY_SPLIT=full out/dev/nginx_test

bench: release
	tools/deps bench
	ninja -j $(JOBS) -C out/release slipway_bench
	tools/argo-rollouts out/peers/argo || [ $$? -eq 3 ]
	out/release/slipway_bench --slipway out/release/slipway --out out/bench.json

fuzz: deps
	tools/fuzz $(FUZZ_SECONDS)

check: deps out/dev/build.ninja
	tools/check $(CHECK_BASE)

fmt: deps
	git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

crds: out/dev/build.ninja
	ninja -j $(JOBS) -C out/dev gen_crds
	out/dev/gen_crds crds

deps:
	@tools/deps build test

out/%/build.ninja: | deps
	cmake --preset $* $(if $(filter ON,$(UNITY)),-DCMAKE_UNITY_BUILD=ON) >/dev/null
