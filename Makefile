# Every target works on a fresh clone with Go and make. Other requirements are
# installed below this folder (bin/, .cache/) or reported.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
BINDIR   ?= $(or $(shell $(GO) env GOBIN),$(shell $(GO) env GOPATH)/bin)
EXE      := $(shell $(GO) env GOEXE)

# The version that .golangci.yml is written for.
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.52.0
GOVULNCHECK_VERSION := v1.9.0
GOLANGCI         := bin/golangci-lint$(EXE)

# A complete run on two cores needs about a quarter of this.
TEST_TIMEOUT ?= 20m
FUZZTIME     ?= 10s

export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help build install demo quick test race check faults days fmt fmt-check lint deadcode vet fuzz-seeds fuzz bench bench-quick results eval foresight \
	cover tools client onnxruntime axe onnx pictures generate dist reproducible vulncheck sbom notices clean

help: ## list the targets
	@awk 'BEGIN{FS=":.*## "} /^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Hooks start strandline, which the tag lean keeps small. Commands that need more
# code (server, MCP, browse, sync) run in strandline-full in the same folder.
#
# The linker writes its output through a memory map, which leaves it in the page
# cache in single pages; a copied file has large ones, and each process that runs
# it starts 0.3 ms faster (15 % of a statusline). Hence the copies.
build: ## build ./bin/strandline
	@mkdir -p bin/linked
	$(GO) build -tags lean -trimpath -ldflags '$(LDFLAGS)' -o bin/linked/strandline$(EXE) ./cmd/strandline
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/linked/strandline-full$(EXE) ./cmd/strandline
	@for name in strandline$(EXE) strandline-full$(EXE); do rm -f bin/$$name && cp bin/linked/$$name bin/$$name || exit 1; done

install: build ## install strandline into BINDIR; then run: strandline init
	@mkdir -p "$(BINDIR)"
	@for name in strandline$(EXE) strandline-full$(EXE); do rm -f "$(BINDIR)/$$name" && cp bin/linked/$$name "$(BINDIR)/$$name" || exit 1; done
	@echo "installed $(BINDIR)/strandline$(EXE)"
	@case ":$$PATH:" in *":$(BINDIR):"*) ;; *) echo "note: $(BINDIR) is not in your PATH; call $(BINDIR)/strandline$(EXE)" ;; esac

demo: build ## run the demo; it changes nothing of yours
	@./bin/strandline$(EXE) demo

quick: ## run the unit tests of the packages that differ from BASE (default the last commit), in seconds
	@GO=$(GO) ./scripts/quick.sh $(BASE)

test: client onnxruntime axe ## run all tests, installing their requirements
	@STRANDLINE_E2E=1 GO=$(GO) ./scripts/test.sh -timeout $(TEST_TIMEOUT)

race: client onnxruntime axe ## run all tests with the race detector (needs a C compiler)
	STRANDLINE_E2E=1 CGO_ENABLED=1 $(GO) test -race -timeout $(TEST_TIMEOUT) ./...

check: fmt-check lint vet fuzz-seeds race ## all checks that a change must pass

faults: ## run every operation under every fault and print the outcomes, in half an hour
	$(GO) test ./e2e/faults -whole -table $(CURDIR)/faults.txt -timeout 3h; code=$$?; cat faults.txt; exit $$code

days: build ## simulate days of work with one archive for FOR (default 1h), and check it
	$(GO) run ./bench/cmd/days -bin bin/strandline$(EXE) -for $(or $(FOR),1h)

fmt: ## format the code
	gofmt -s -w $$(git ls-files -co --exclude-standard '*.go')

fmt-check:
	@out=$$(gofmt -s -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$out" ]; then echo "not formatted (run make fmt):"; echo "$$out"; exit 1; fi

lint: $(GOLANGCI) ## run the linters of .golangci.yml
	@$(GO) version
	@$(GOLANGCI) version --short 2>/dev/null | sed 's/^/golangci-lint /'
	$(GOLANGCI) run ./...

deadcode: ## list unreachable functions of the program (needs a C compiler); fails if there are any
	@out=$$(CGO_ENABLED=1 $(GO) run golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION) -tags onnx -test=false ./cmd/...); \
	if [ -n "$$out" ]; then echo "unreachable:"; echo "$$out"; exit 1; fi

vet: ## go vet for every system that is released
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(GO) vet -tags lean ./cmd/strandline
	GOOS=windows $(GO) vet -tags lean ./cmd/strandline

fuzz-seeds: ## run every fuzz target over its seeds
	$(GO) test -run '^Fuzz' ./...

fuzz: ## fuzz every target for FUZZTIME (default 10s)
	./scripts/fuzz.sh $(FUZZTIME)

bench: build ## measure whole processes and the Go benchmarks; prints tables
	$(GO) run ./bench/cmd/times -bin bin/strandline$(EXE)
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-quick: build ## measure whole processes without the 1 GB transcript
	$(GO) run ./bench/cmd/times -bin bin/strandline$(EXE) -quick

results: build ## rewrite bench/RESULTS.md; DATA=DIR adds the large evaluation sets
	GO=$(GO) ./scripts/results.sh bin/strandline$(EXE) '$(DATA)' > bench/RESULTS.md.new
	mv bench/RESULTS.md.new bench/RESULTS.md

eval: ## measure search quality; DATA=DIR is the folder of the large sets
	$(GO) run ./bench/cmd/eval -data '$(DATA)'
	@[ -z '$(DATA)' ] || STRANDLINE_EVAL_DATA='$(DATA)/data/transcripts' $(GO) test ./internal/recall -run EvalThreshold -v -count=1

foresight: build ## measure restored contexts on real sessions in STRANDLINE_EVAL_DATA
	$(GO) run ./bench/cmd/foresight -bin bin/strandline$(EXE)

cover: ## print the coverage of every function
	$(GO) test -coverprofile=coverage.out -coverpkg=./... ./...
	$(GO) tool cover -func=coverage.out | tail -1

tools: $(GOLANGCI) ## install the pinned tools into ./bin

$(GOLANGCI): Makefile
	./scripts/install-lint.sh $(GOLANGCI_VERSION) $(GOLANGCI)

client: # the real clients for the end-to-end tests, which report when one is missing
	@if [ -x scripts/install-client.sh ]; then ./scripts/install-client.sh || echo "client not installed: the end-to-end test will fail and say so"; fi
	@for name in codex copilot gemini opencode pi qwen; do ./scripts/install-npm-client.sh $$name >/dev/null || echo "$$name is not installed: its end-to-end tests will skip and say so"; done

onnxruntime: # the library for the tests of the embedding helper, which report when it is missing
	@./scripts/install-onnxruntime.sh >/dev/null || echo "the ONNX Runtime is not installed: the test of the embedding helper will skip and say so"

axe: # the library of the test of the page's accessibility, which reports when it is missing
	@./scripts/install-axe.sh >/dev/null || echo "axe-core is not installed: the accessibility of the page will not be tested"

pictures: build ## rewrite the pictures in docs (needs script and Chromium)
	@GO=$(GO) ./scripts/pictures.sh bin

onnx: ## build ./bin/strandline-onnx, the helper that runs embedding models (needs a C compiler)
	CGO_ENABLED=1 $(GO) build -trimpath -tags onnx -ldflags '-s -w' -o bin/strandline-onnx$(EXE) ./cmd/strandline-onnx

generate: ## rewrite the bundled demo session
	$(GO) test ./internal/cli -run TestDemoSessions -update

dist: notices ## build the release archives without publishing (needs goreleaser)
	goreleaser release --snapshot --clean

reproducible: ## build the last commit twice and compare the hashes
	@GO=$(GO) ./scripts/reproducible.sh

vulncheck: ## list known vulnerabilities that the program reaches (needs the network)
	@GO=$(GO) ./scripts/vulncheck.sh $(GOVULNCHECK_VERSION)

sbom: ## write sbom.cdx.json, the modules that are linked into the program
	@GO=$(GO) ./scripts/sbom.sh $(VERSION) > sbom.cdx.json

notices: ## collect the licences of everything linked into the binary
	./scripts/third-party-licenses.sh > THIRD_PARTY_LICENSES.txt

clean: ## remove what was built
	rm -rf bin dist coverage.out THIRD_PARTY_LICENSES.txt sbom.cdx.json
