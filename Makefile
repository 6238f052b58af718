# weir: make run  sets up what is missing, builds, and runs the quickstart here
#       make test sets up what is missing and passes what must pass before a commit

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO      ?= go
CC      ?= gcc
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
CWARN   := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
FUZZTIME ?= 2s
CHECKS  ?= 10000
FAULTS  ?= 300
KILLS   ?= 300
PAIRS   ?= 9
VETTED  := -vet off -tags weirtest# vet is part of lint; weirtest: what tests reach into the engine with
SEED    ?= 0

.PHONY: govulncheck licences help setup browser build run quick test rest test-all golden soak lint ctest charts sanitized valgrind race plain hosts fuzz properties gpu large bench verdicts scale carry clean test-cluster faults endure newest kills peers test-peers pairs cuda kernels

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: ## install the headers and libraries of UCX and libfabric, if they are missing
	@scripts/setup

browser: setup ## install what tests read weir's files with, if it is missing: Chromium, and readers of JUnit and YAML
	@scripts/setup browser

build: setup ## bin/weir
	@mkdir -p bin
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/weir ./cmd/weir

run: build ## run the quickstart scenario on this machine
	@mkdir -p weir-out
	bin/weir run examples/quickstart.yaml --inconclusive warn --report html=weir-out/quickstart.html
	@echo 'next: open weir-out/quickstart.html in a browser'
	@echo '      bin/weir init my.yaml writes a commented scenario of your own'
	@echo '      bin/weir ci github my.yaml, or gitlab, or jenkins, prints a CI job that gates on it'

quick: ## build, vet, and the short tests of all packages: a minute or so
	$(GO) build ./...
	$(GO) vet ./...
	$(GO) test $(VETTED) -short $(OTHERS)
	$(GO) test $(VETTED) -short $(NATIVE)

test: setup browser lint plain sanitized ## what must pass before a commit: all but the race detector, most of the sanitizers, fuzzing and endurance

rest: setup race ctest endure ## what make test leaves out: the race detector, all sanitizers, valgrind, fuzzing and endurance

test-all: ## everything: make test and rest with the tests of minutes and simulations at length, make test-cluster and make test-peers
	@$(MAKE) --no-print-directory test rest WEIR_LAB=all
	@$(MAKE) --no-print-directory test-cluster
	@$(MAKE) --no-print-directory test-peers

# packages whose tests write golden files
GOLDEN = $(shell $(GO) list -test -f '{{if .ForTest}}{{range .Deps}}{{if eq . "weir/test/golden"}}{{$$.ForTest}}{{end}}{{end}}{{end}}' ./... | sort -u | grep -v '^weir/test/golden$$')

golden: ## writes the golden files of all packages anew
	@# the program of a test embeds the files as they were before it: tests of what a file says now pass in the second run
	$(GO) test $(VETTED) -short $(GOLDEN) -update || $(GO) test $(VETTED) -short $(GOLDEN) -update

test-cluster: setup ## the tests that need hosts, sshd, Slurm, a Kubernetes control plane and newer libraries, which are made here: none of them may be skipped
	@scripts/setup cluster
	@test/kube/build
	@test/etcd/build
	WEIR_HOSTILE=1000000 $(GO) test $(VETTED) -count 1 -timeout 15m -run Hostile ./executor/agent ./executor/daemon
	@$(MAKE) --no-print-directory hosts WEIR_LAB=required
	@$(MAKE) --no-print-directory newest WEIR_LAB=required

newest: build ## the engine over newer UCX (1.16, 1.18, 1.22) and libfabric (2.1) than the distribution's, unpacked into .build (with WEIR_LAB=required never skipped)
	@scripts/setup newest
	@$(MAKE) --no-print-directory .build/engine_test-address,undefined
	@if test/newest/build; then VENDORS='$(VENDORS) LSAN_OPTIONS=$(LEAKS)' test/newest/run; else test -z "$(WEIR_LAB)"; fi

peers: ## large programs that weir is tested against, into .build/peers: Dynamo, NIXL, aiperf, iperf3, fio, perftest (2 GB, once)
	@scripts/peers

test-peers: peers ## weir driving those programs: none may be missing
	WEIR_PEERS=required WEIR_LAB=whole $(GO) test $(VETTED) -count 1 -timeout 30m ./test/peers

pairs: ## weir, aiperf and bare sockets load one Dynamo in turns: their tokens per second and the ratios (PAIRS=N rounds)
	@scripts/peers dynamo aiperf
	WEIR_PEERS=required WEIR_LAB=whole $(GO) test $(VETTED) -count 1 -v -timeout 1h -run '^TestClientsOfDynamo$$' ./test/peers -pairs $(PAIRS) -bars

kills: ## 300 coordinators, agents, roles and services killed at random moments (KILLS=N, SEED=N: those of an earlier run)
	WEIR_LAB=required $(GO) test $(VETTED) -count 1 -v -timeout 3h -run '^TestKilledPrograms$$' ./executor/faults -kills $(KILLS) -seed $(SEED) -named 1s

faults: ## 300 faults at random moments of sessions on three hosts, which must be had (FAULTS=N, SEED=N: those of an earlier run)
	WEIR_LAB=required $(GO) test -count 1 -v -timeout 3h -parallel 6 -run '^TestFaults$$' ./executor/faults -faults $(FAULTS) -seed $(SEED) -worlds 6

lint: ## gofmt, vet, staticcheck, no long lines, go.mod is tidy
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not gofmt-ed:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags weirtest ./engine/native
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	$(GO) tool -modfile=tools/go.mod staticcheck -tags weirtest ./engine/native
	$(GO) test -vet off -run '^TestLines' .
	$(GO) mod tidy -diff

govulncheck: ## known vulnerabilities of what weir calls in its dependencies, by the database of vuln.go.dev (GOVULNDB=URL: another)
	$(GO) tool -modfile=tools/go.mod govulncheck ./...

licences: ## docs/licences.md: the modules that weir is linked with, and their licences
	@GO=$(GO) scripts/licences

# The C engine's ranks spin, so its tests run alone; of others many wait (for leases, deadlines, processes) and as many
# compute: four packages at a time keep two cores busy. What a test is for, it says itself (test/phase).
NATIVE := weir/engine/native
OTHERS  = $(filter-out $(NATIVE),$(shell $(GO) list ./...))
# Those on several hosts make namespaces, sshd and Slurm, whose deadlines other tests must not use up.
HOSTS   = $(filter weir/executor/faults weir/executor/lab weir/executor/lab/% weir/executor/launch weir/executor/launch/% weir/test/hosts,$(OTHERS))

race: ## all Go tests that have something for the race detector, under it
	$(GO) test $(VETTED) -race -timeout 15m -p 4 -parallel 3 $(OTHERS)
	$(GO) test $(VETTED) -race -timeout 10m $(NATIVE)

plain: ## all Go tests without the race detector; with WEIR_LAB=whole those of minutes too, with WEIR_LAB=required no host may be missing
	$(GO) test $(VETTED) $(if $(WEIR_LAB),-count 1) -timeout 20m -p 3 -parallel 3 $(filter-out $(HOSTS),$(OTHERS))
	@$(MAKE) --no-print-directory hosts
	RAPID_CHECKS=10 $(GO) test $(VETTED) -timeout 15m $(NATIVE)

hosts: ## tests on several hosts; with WEIR_LAB=whole also those of minutes, with WEIR_LAB=required none may be skipped
	@$(if $(WEIR_LAB),scripts/setup cluster)
	$(GO) test $(VETTED) $(if $(WEIR_LAB),-count 1) -timeout 15m -p 3 -parallel 3 $(HOSTS)

.build/engine_test-%: $(wildcard engine/native/*.[ch] engine/native/ctest/*.c) Makefile
	@mkdir -p .build
	@$(CC) $(CWARN) -DWEIR_TEST -O1 -g $(if $(filter plain,$*),,-fno-omit-frame-pointer -fsanitize=$* -fno-sanitize-recover=undefined) -o $@ $(filter %.c,$^) -ldl -lpthread -lm

# vendors' libraries neither catch signals nor hook allocations, which sanitizers do
VENDORS := UCX_HANDLE_ERRORS=none UCX_ERROR_SIGNALS= UCX_MEM_EVENTS=n IPATH_NO_BACKTRACE=1 HFI_NO_BACKTRACE=1
# whole stacks: vendors' libraries keep no frame pointers
LEAKS := suppressions=engine/native/ctest/lsan.supp:print_suppressions=0 ASAN_OPTIONS=fast_unwind_on_malloc=0

sanitized: .build/engine_test-address,undefined ## the C engine over its own fabrics under AddressSanitizer, LeakSanitizer and UBSan
	@.build/engine_test-address,undefined shm tcp tcp+heap

ctest: sanitized ## the C engine under AddressSanitizer, LeakSanitizer, UBSan, ThreadSanitizer and valgrind, and real launches of it
	@$(MAKE) --no-print-directory -j 3 .build/engine_test-address,undefined .build/engine_test-thread .build/engine_test-plain
	@# vendors' libraries are not built for ThreadSanitizer, so it is told to leave out what they call: it sees weir's own threads
	@$(CC) $(CWARN) -Wno-missing-prototypes -O1 -g -fPIC -shared -o .build/libnixl_capi.so engine/native/testdata/nixl/fake_nixl.c
	@$(MAKE) --no-print-directory cuda
	@# +hidden is memory that only functions of its kind may touch, and libraries, which copy by memcpy: replace_intrin=0 lets them
	@# grep reads to the end (no -q): ldconfig that is killed by SIGPIPE would look like a library that is not here
	@ucx=; fi=; \
	if ldconfig -p | grep 'libucp\.so\.0' >/dev/null; then ucx='ucx ucx:am ucx:tag ucx:tag_sync ucx+heap ucx:am+heap ucx:tag+heap ucx:am+sleep ucx:tag+sleep ucx:tag+iov'; else echo 'skipped: libucp.so.0 is not here (scripts/setup installs it)'; fi; \
	if ldconfig -p | grep 'libfabric\.so\.1' >/dev/null; then fi='libfabric libfabric:net libfabric+sleep'; else echo 'skipped: libfabric.so.1 is not here (scripts/setup installs it)'; fi; \
	if ldconfig -p | grep 'libfabric\.so ' >/dev/null; then \
	  mkdir -p .build/providers && fi="$$fi libfabric:strict" && \
	  $(CC) $(CWARN) -O1 -g -shared -fPIC -o .build/providers/libstrict-fi.so engine/native/testdata/libfabric/strict_provider.c -lfabric; \
	else echo 'skipped: libfabric.so is not here, which our strict provider is linked with (scripts/setup installs it)'; fi; \
	test -z "$$ucx" || $(VENDORS) .build/engine_test-address,undefined $$ucx; \
	test -z "$$fi" || $(VENDORS) .build/engine_test-address,undefined libfabric:shm; \
	test -z "$$fi" || $(VENDORS) FI_PROVIDER_PATH=.build/providers LSAN_OPTIONS=$(LEAKS) .build/engine_test-address,undefined $$fi; \
	WEIR_NIXL_LIBRARY=$$PWD/.build/libnixl_capi.so FAKE_NIXL_POLLS=3 .build/engine_test-address,undefined nixl nixl:prepared nixl:reregister; \
	test -z "$$ucx" || UCX_TLS=posix ASAN_OPTIONS=replace_intrin=0 $(VENDORS) .build/engine_test-address,undefined ucx+hidden ucx+hidden-source ucx+hidden-sink ucx:am+hidden ucx:tag+hidden; \
	test -z "$$fi" || ASAN_OPTIONS=replace_intrin=0 $(VENDORS) .build/engine_test-address,undefined libfabric:shm+hidden; \
	WEIR_NIXL_LIBRARY=$$PWD/.build/libnixl_capi.so FAKE_NIXL_POLLS=3 ASAN_OPTIONS=replace_intrin=0 .build/engine_test-address,undefined nixl+hidden nixl:reregister+hidden-sink; \
	TSAN_OPTIONS=halt_on_error=1 .build/engine_test-thread shm tcp; \
	test -z "$$ucx$$fi" || $(VENDORS) FI_PROVIDER_PATH=.build/providers TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 test/sanitized/thread $$ucx $${ucx:+ucx+hidden} $$fi; \
	WEIR_NIXL_LIBRARY=$$PWD/.build/libnixl_capi.so FAKE_NIXL_POLLS=3 TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 test/sanitized/thread nixl nixl:prepared nixl:reregister nixl+hidden
	@VENDORS='$(VENDORS)' GO=$(GO) test/sanitized/run
	@$(MAKE) --no-print-directory valgrind

# every way of fabric cuda over a stand-in of the driver: engine, allocation, and one end in host memory
CUDA_WAYS := cuda:copy+device cuda:sm+vmm cuda:bulk+vmm cuda:bulk+pool cuda:auto+vmm cuda:copy+vmm-source cuda:sm+device-sink
FAKE_CUDA := $(addprefix engine/native/testdata/cuda/,fake_cuda.c fake_memory.c fake_work.c)
.build/libcuda-%.so.1: $(wildcard engine/native/testdata/cuda/* engine/native/*.cu) engine/native/cuda.h
	@mkdir -p .build
	@$(CC) $(CWARN) -Wno-missing-prototypes -O1 -g -fPIC -shared $(if $(filter plain,$*),,-fno-omit-frame-pointer -fsanitize=$*) -o $@ $(FAKE_CUDA) -lpthread

cuda: .build/engine_test-address,undefined .build/engine_test-thread .build/libcuda-plain.so.1 .build/libcuda-thread.so.1 ## fabric cuda and memory vram over a stand-in of the driver, under AddressSanitizer, LeakSanitizer, UBSan and ThreadSanitizer
	@WEIR_CUDA_LIBRARY=$$PWD/.build/libcuda-plain.so.1 .build/engine_test-address,undefined $(CUDA_WAYS)
	@FAKE_CUDA_P2P=no WEIR_CUDA_LIBRARY=$$PWD/.build/libcuda-plain.so.1 .build/engine_test-address,undefined cuda:copy+vmm
	@WEIR_CUDA_LIBRARY=$$PWD/.build/libcuda-thread.so.1 TSAN_OPTIONS=halt_on_error=1 .build/engine_test-thread cuda:copy+vmm cuda:sm+device

kernels: ## compiles the kernels for GPUs into cuda_images.c, by compilers of PyPI, and says what ptxas says of them
	@scripts/kernels
	@scripts/kernels --check

valgrind: .build/engine_test-plain ## the C engine under memcheck: no error, nothing lost
	@scripts/setup valgrind
	@if ! command -v valgrind >/dev/null; then echo 'skipped: valgrind is not here, and could not be installed'; else \
	  valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --fair-sched=yes \
	    .build/engine_test-plain shm tcp; \
	fi

fuzz: ## every fuzz target for $(FUZZTIME)
	@scripts/fuzz $(FUZZTIME)

properties: ## every property test with $(CHECKS) random inputs, two minutes each at most
	@GO=$(GO) scripts/properties $(CHECKS)
	$(GO) test $(VETTED) -count 1 -run '^TestRandomPlans$$' ./engine/elastic -plans 300

endure: build ## fuzz and soak
	@$(MAKE) --no-print-directory -j 2 -O fuzz soak

soak: build ## 100 small sessions, some interrupted or killed: nothing may be left behind
	@scripts/soak 100

gpu: build .build/engine_test-plain ## fabric cuda and memory vram on GPUs, beside the driver's own copies and ucx_perftest: packs .build/gpu, and runs it where there is a GPU; for another machine take the folder there and run DIR/run DIR
	@scripts/gpu-pack .build/gpu
	@if command -v nvidia-smi >/dev/null; then .build/gpu/run .build/gpu; else echo 'no GPU here: take .build/gpu to a machine with one, and run .build/gpu/run .build/gpu there'; fi

large: setup ## sizes and offsets of more than 32 bits on each fabric (27 GiB of memory, minutes)
	WEIR_TEST_LARGE=1 $(GO) test $(VETTED) -count 1 -v -timeout 30m -run '^TestBeyond32Bits$$' ./engine/native

bench: setup ## weir beside its peers, into .build/bench.md (BENCH=REGEX: only these rows, BENCH_PAIRS=11, BENCH_SECONDS=0.15)
	@scripts/setup bench
	@test/newest/build ucx || true
	@mkdir -p .build
	BENCH_OUT=$$PWD/.build/bench.md $(GO) test $(VETTED) -run '^$$' -bench 'Peers' -benchtime 1x -timeout 120m ./engine/native
	@test -n "$(BENCH)" || BENCH_OUT=$$PWD/.build/bench.md $(GO) test $(VETTED) -run '^$$' -bench 'Recording' -benchtime 1x ./engine/native
	@test -n "$(BENCH)" || $(GO) test $(VETTED) -run '^$$' -bench 'EPAndTraffic|Rows' -benchtime 1x ./engine/native
	@test -n "$(BENCH)" || $(MAKE) --no-print-directory verdicts
	@test -n "$(BENCH)" || BENCH_OUT=$$PWD/.build/bench.md $(GO) test -run '^$$' -bench 'FirstByte|Stored|Tool|ExpertParallel' -benchtime 1x ./cmd/weir
	@test -n "$(BENCH)" || $(GO) test -run '^$$' -bench . -benchtime 1x -timeout 20m ./executor/... ./planner ./gate ./results ./serving/client

scale: ## what a case costs with 10 to 8000 ranks on up to 1000 agents, and 16 ranks on this host: a table, into .build/scale.md
	@mkdir -p .build
	@rm -f .build/scale.md
	SCALE_OUT=$$PWD/.build $(GO) test -run '^$$' -bench 'Crowd|Overhead' -benchtime 1x -timeout 20m ./executor

disturbed: build ## a gate repeated on a quiet and on a busy host: it must never fail on the busy one (TRIES=100); needs a quiet host
	@scripts/disturbed

verdicts: build ## how long verdicts take, quiet and beside a busy process (TRIES=3); needs a quiet host
	@scripts/verdict-times

charts: ## build the chart library of the page anew, from npm (scripts/charts --check only compares); the digest goes into reporters/html/library_test.go
	@scripts/charts

carry: setup ## pack `make bench` and the peers for another machine, into .build/weir-bench.tar.gz (scripts/bench-carry says how to run it)
	@scripts/setup bench
	@scripts/bench-carry

clean: ## what the build made
	rm -rf bin .build
