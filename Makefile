# weir: make run   sets up what is missing, builds, and runs the quickstart here
#       make test  runs the tests that must pass before a commit

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO       ?= go
CC       ?= gcc
VERSION  ?= 0.1.0
COMMIT   ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# of the program: what fortified headers need must be in the oldest glibc, too
HARDENED := $(shell sed -n 's/^\#cgo CFLAGS: \(-fstack.*\)/\1/p' engine/native/native.go)
CWARN    := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
FUZZTIME ?= 5s
CHECKS   ?= 10000
FAULTS   ?= 300
KILLS    ?= 300
PAIRS    ?= 9
VULNDB   ?= https://vuln.go.dev
VULNIN   ?= ./...
SEED     ?= 0
# tests, lint and the program share what is compiled: all of it is compiled for the program
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -buildmode=pie)
# vet is part of lint; the tag weirtest adds what tests reach into the engine with
TEST     := $(GO) test -vet off -tags weirtest

.PHONY: help setup build dist dist-check dist-test arm image run quick test rest test-all lint go-tests race hosts ctest soak fuzz properties vuln golden test-cluster newest peers test-peers pairs kills faults gpu large litmus bench verdicts scale clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@echo '  scripts/ and test/ have what is done by hand: each file says what it does'

setup:
	@scripts/setup

build: setup ## bin/weir
	@mkdir -p bin
	$(GO) build -trimpath -buildmode=pie -ldflags '$(LDFLAGS)' -o bin/weir ./cmd/weir

run: build ## run the quickstart scenario on this machine
	@mkdir -p weir-out
	bin/weir run examples/quickstart.yaml --inconclusive warn --report html=weir-out/quickstart.html
	@echo 'next: open weir-out/quickstart.html in a browser'
	@echo '      bin/weir init my.yaml writes a commented scenario of your own'
	@echo '      bin/weir ci github my.yaml, or gitlab, or jenkins, prints a CI job that gates on it'

dist: setup ## a release in dist/: tarballs, .deb, .rpm for x86-64 and Arm, SPDX documents, Homebrew's formula, sums
	@GO=$(GO) VERSION=$(VERSION) scripts/dist

dist-check: setup ## make dist twice, the second time elsewhere and from nothing: the same bytes
	@GO=$(GO) VERSION=$(VERSION) scripts/dist --check

dist-test: ## installs dist/ into empty roots of Debian 11, and runs the quickstart there; Arm under qemu-user
	@VERSION=$(VERSION) scripts/dist-test amd64
	@VERSION=$(VERSION) scripts/dist-test arm64

image: ## a container image of Containerfile, with what the machine has: podman, buildah or docker
	@scripts/image weir:$(VERSION)

# Ranks of the C engine spin, so its tests run alone. Tests on several hosts have deadlines, which no other tests may use up.
MODULE := github.com/weir-bench/weir
NATIVE := $(MODULE)/engine/native
HOSTS  := $(addprefix $(MODULE)/,test/faults test/lab test/lab/% executor/launcher executor/launcher/% test/hosts)
ALL     = $(shell $(GO) list ./...)
OTHERS  = $(filter-out $(NATIVE),$(ALL))
RACED   = $(shell scripts/concurrent)

quick: ## build, vet, short tests of all packages
	$(GO) build ./...
	$(GO) vet ./...
	$(TEST) -short $(OTHERS)
	$(TEST) -short $(NATIVE)

test: setup lint go-tests .build/engine_test-address,undefined ## what must pass before a commit: lint, the Go tests, the C engine under AddressSanitizer and UBSan
	.build/engine_test-address,undefined shm tcp tcp+heap

rest: setup ## what make test has no time for: its Go tests in full, the race detector, all sanitizers, valgrind, killed sessions
	@scripts/setup browser
	@$(MAKE) go-tests WEIR_LAB=$(or $(WEIR_LAB),whole)
	@$(MAKE) race ctest soak

test-all: lint ## everything: make rest with simulations at length, fuzzing, make test-cluster, make test-peers, the release, Arm
	@$(MAKE) rest WEIR_LAB=all
	@$(MAKE) fuzz test-cluster test-peers arm litmus dist-check dist-test image

lint: ## gofmt, vet, staticcheck, long lines, go.mod is tidy; clang-format and clang-tidy on the C
	@GO=$(GO) scripts/lint
	@scripts/lint-c

# RAPID_CHECKS: how many random inputs property tests have, of which make properties has many
go-tests:
	RAPID_CHECKS=$(if $(filter-out each,$(WEIR_LAB)),100,20) $(TEST) -timeout 20m -p 3 -parallel 3 $(filter-out $(HOSTS),$(OTHERS))
	@$(MAKE) hosts
	RAPID_CHECKS=10 $(TEST) -timeout 20m $(NATIVE)

hosts: # tests on several hosts; with WEIR_LAB=required none may be skipped
	@$(if $(WEIR_LAB),scripts/setup cluster)
	$(TEST) $(if $(WEIR_LAB),-count 1) -timeout 15m -p 3 -parallel 3 $(filter $(HOSTS),$(OTHERS))

race: ## the race detector over the tests of all packages that start goroutines
	GOFLAGS=-trimpath WEIR_LAB= RAPID_CHECKS=10 $(TEST) -race -timeout 15m -p 3 -parallel 3 $(RACED)

golden: ## writes the golden files of all packages anew
	@GO=$(GO) scripts/golden

fuzz: ## every fuzz target for $(FUZZTIME)
	@GO=$(GO) scripts/fuzz $(FUZZTIME)

properties: ## every property test with $(CHECKS) random inputs, two minutes each at most
	@GO=$(GO) scripts/properties $(CHECKS)
	$(TEST) -count 1 -run '^TestRandomPlans$$' ./engine/elastic -plans 300

vuln: ## known vulnerabilities in what weir calls (VULNDB=file:///DIR: a copy of vuln.go.dev, for a CI without it)
	$(GO) tool -modfile=tools/go.mod govulncheck -db $(VULNDB) $(VULNIN)

soak: build ## 100 small sessions, some interrupted or killed: nothing may be left behind
	@scripts/soak 100

## C engine

.build/engine_test-%: $(wildcard engine/native/*.[ch] engine/native/ctest/*.[ch] engine/native/kernels_*.cubin engine/native/kernels_*.ptx) Makefile
	@mkdir -p .build
	@$(CC) $(CWARN) -DWEIR_TEST -O1 -g $(if $(filter plain,$*),,-fno-omit-frame-pointer -fsanitize=$* -fno-sanitize-recover=undefined) -Wa,-Iengine/native -o $@ $(filter %.c,$^) -ldl -lpthread -lm

FAKE_CUDA := $(addprefix engine/native/testdata/cuda/,fake_cuda.c fake_memory.c fake_work.c)
.build/libcuda-%.so.1: $(wildcard engine/native/testdata/cuda/* engine/native/*.cu) engine/native/gpu_cuda.h
	@mkdir -p .build
	@$(CC) $(CWARN) -Wno-missing-prototypes -O1 -g -fPIC -shared $(if $(filter plain,$*),,-fno-omit-frame-pointer -fsanitize=$*) -o $@ $(FAKE_CUDA) -lpthread

.build/libnixl_capi.so: engine/native/testdata/nixl/fake_nixl.c
	@mkdir -p .build
	@$(CC) $(CWARN) -Wno-missing-prototypes -O1 -g -fPIC -shared -o $@ $<

.build/engine_test-arm64: $(wildcard engine/native/*.[ch] engine/native/ctest/*.[ch]) scripts/zig
	@mkdir -p .build
	@$$(scripts/zig arm64) $(CWARN) $(HARDENED) -DWEIR_TEST -O1 -g -Wa,-Iengine/native -o $@ $(filter %.c,$^) -ldl -lpthread -lm

arm: ## the C engine for Arm, under qemu-user
	@scripts/setup root
	@$(MAKE) .build/engine_test-arm64
	WEIR_EMULATED=1 qemu-aarch64-static -L /usr/aarch64-linux-gnu .build/engine_test-arm64 shm tcp tcp+heap

ctest: ## the C engine under AddressSanitizer, LeakSanitizer, UBSan, ThreadSanitizer and valgrind, and real launches of it
	@scripts/setup valgrind
	@$(MAKE) -j 2 $(addprefix .build/,engine_test-address,undefined engine_test-thread engine_test-plain libcuda-plain.so.1 libcuda-thread.so.1 libnixl_capi.so)
	@CC='$(CC)' test/sanitized/engine
	@GO=$(GO) test/sanitized/run

## on machines that have, or are given, more

test-cluster: setup ## the tests that need hosts, sshd, Slurm, a Kubernetes control plane and newer libraries, which are made here: none of them may be skipped
	@scripts/setup cluster
	@test/kube/build
	@test/etcd/build
	WEIR_HOSTILE=1000000 $(TEST) -count 1 -timeout 15m -run Hostile ./executor/agent ./executor/control/fleet ./executor/control/link
	@$(MAKE) hosts newest WEIR_LAB=required

newest: build ## the engine over newer UCX (1.16, 1.18, 1.22) and libfabric (2.1) than the distribution's, unpacked into .build
	@scripts/setup newest
	@$(MAKE) .build/engine_test-address,undefined
	@if test/newest/build; then test/newest/run; else test -z "$(WEIR_LAB)"; fi

peers: ## large programs that weir is tested against, into .build/peers: Dynamo, NIXL, aiperf, iperf3, fio, perftest (2 GB, once)
	@scripts/peers

test-peers: peers ## weir driving those programs: none may be missing
	WEIR_PEERS=required WEIR_LAB=whole $(TEST) -count 1 -timeout 30m ./test/peers

pairs: ## weir, aiperf and bare sockets load one Dynamo in turns: their tokens per second and the ratios (PAIRS=N rounds)
	@scripts/peers dynamo aiperf
	WEIR_PEERS=required WEIR_LAB=whole $(TEST) -count 1 -v -timeout 1h -run '^TestClientsOfDynamo$$' ./test/peers -pairs $(PAIRS) -bars

kills: ## 300 coordinators, agents, roles and services killed at random moments (KILLS=N, SEED=N: those of an earlier run)
	WEIR_LAB=required $(TEST) -count 1 -v -timeout 3h -run '^TestKilledPrograms$$' ./test/faults -kills $(KILLS) -seed $(SEED) -named 1s

faults: ## 300 faults at random moments of sessions on three hosts, which must be had (FAULTS=N, SEED=N: those of an earlier run)
	WEIR_LAB=required $(TEST) -count 1 -v -timeout 3h -parallel 6 -run '^TestFaults$$' ./test/faults -faults $(FAULTS) -seed $(SEED) -worlds 6

gpu: build .build/engine_test-plain ## fabric cuda and memory vram on GPUs, beside the driver's own copies and ucx_perftest: packs .build/gpu, and runs it where there is a GPU; for another machine take the folder there and run DIR/run DIR
	@scripts/gpu-pack .build/gpu
	@if command -v nvidia-smi >/dev/null; then .build/gpu/run .build/gpu; else echo 'no GPU here: take .build/gpu to a machine with one, and run .build/gpu/run .build/gpu there'; fi

large: setup ## sizes and offsets of more than 32 bits on each fabric (27 GiB of memory, minutes)
	WEIR_LAB=whole WEIR_TEST_LARGE=1 $(TEST) -count 1 -v -timeout 30m -run '^TestBeyond32Bits$$' ./engine/native

# two minutes; loom, which cargo fetches once, is in no release
litmus: ## barriers, messages and exchanges of the C engine under a model checker for weak memory, as of Arm (needs cargo)
	@command -v cargo >/dev/null || { echo 'make litmus needs cargo, of Rust 1.82 or newer' >&2; exit 1; }
	CC='$(CC)' CARGO_TARGET_DIR='$(CURDIR)/.build/litmus' cargo run --quiet --release --manifest-path test/litmus/Cargo.toml

bench: setup ## weir beside its peers, into .build/bench.md (BENCH=REGEX: only these rows, BENCH_PAIRS=11, BENCH_SECONDS=0.15)
	@GO=$(GO) scripts/bench $(BENCH)

verdicts: build ## how long verdicts take, quiet and beside a busy process (TRIES=3); needs a quiet host
	@scripts/verdict-times

scale: ## what a case costs with 10 to 8000 ranks on up to 1000 agents, and 16 ranks on this host: a table, into .build/scale.md
	@mkdir -p .build
	@rm -f .build/scale.md
	SCALE_OUT=$$PWD/.build $(GO) test -run '^$$' -bench 'Crowd|Overhead' -benchtime 1x -timeout 20m ./executor

clean: ## what the build made
	rm -rf bin .build
