package pages

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const fetch, cluster = "git clone https://github.com/weir-bench/weir && cd weir", "weir run catalog:hosts "

// notRun are the blocks of pages that no test executes, by their page and first line, with the reason.
var notRun = []struct{ page, first, why string }{
	{"docs/install.md", fetch, "fetches and builds weir"},
	{"docs/first-scenario.md", fetch, "fetches and builds weir"},
	{"docs/install.md", "go install github.com/weir-bench/weir/cmd/weir@latest", "fetches and builds weir"},
	{"docs/install.md", "LD_LIBRARY_PATH=/opt/ucx/lib weir probe", "needs UCX and NIXL in /opt"},
	{"docs/install.md", "version=0.1.0 arch=amd64", "needs a release: make dist-test does it"},
	{"docs/install.md", "make image", "needs podman and a registry"},
	{"docs/ci.md", "weir run gate.yaml --push http://GATEWAY:9091", "needs a push gateway"},
	{"docs/ci.md", "weir run gate.yaml --push otlp+http://COLLECTOR:4318", "needs a collector"},
	{"docs/ci.md", "weir run gate.yaml --push otlp+http://PROMETHEUS:9090/api/v1/otlp", "needs Prometheus"},
	{"docs/ci.md", "WEIR_NOTIFY=https://hooks.slack.com", "needs a webhook"},
	{"docs/ci.md", "curl --data-binary @weir-out/ci/metrics.prom http://GATEWAY:9091/metrics/job/weir",
		"needs a push gateway"},
	{"docs/clusters.md", cluster + "--hosts 'gpu[01-02]'", "needs hosts with ssh"},
	{"docs/clusters.md", "salloc -N 2 " + cluster + "--launcher slurm", "needs Slurm"},
	{"docs/clusters.md", cluster + "--launcher kubernetes --kube-image", "needs Kubernetes"},
	{"docs/clusters.md", "weir cluster init --node 'gpu[01-16]'", "needs an etcd and hosts"},
	{"docs/hosts.md", cluster + "--hosts 'gpu[01-02]'", "needs hosts with ssh, Slurm and Kubernetes"},
	{"docs/hosts.md", "weir agent --etcd https://etcd:2379", "needs an etcd and hosts"},
	{"docs/gpu.md", "weir probe cuda", "needs GPUs"},
	{"docs/moving/dynamo.md", "weir run catalog:dynamo-suite", "needs Dynamo, a cluster and cards"},
	{"docs/moving/kv-backends.md", "weir run catalog:kv-backends", "needs Dynamo"},
	{"docs/moving/shell-scripts.md", "for size in 1024 4096; do", "is the script of a reader, not weir's"},
}

// Each block of a page is one that a test executes, checks, or has in notRun; each entry of notRun is a block.
func TestBlocksAreExecutedOrHaveAReason(t *testing.T) {
	seen := make([]bool, len(notRun))
	for _, file := range pageFiles(t) {
		text := pageText(t, file)
		for _, b := range blocks(text) {
			first, _, _ := strings.Cut(b.text, "\n")
			switch b.language {
			case "console", "text", "":
			case "yaml", "hcl":
				if b.file() == "" && !b.scenario() {
					t.Errorf("%s:%d: the block is a part of a file: show a whole one, or name it", file, b.line)
				}
			case "json":
				decoder := json.NewDecoder(strings.NewReader(b.text))
				for decoder.More() {
					var v any
					if err := decoder.Decode(&v); err != nil {
						t.Errorf("%s:%d: %v", file, b.line, err)
						break
					}
				}
			case "sh":
				found := false
				for i, n := range notRun {
					if n.page == file && strings.HasPrefix(first, n.first) {
						seen[i], found = true, true
					}
				}
				if !found {
					t.Errorf("%s:%d: %q is not run: make it a console, or say why in notRun", file, b.line, first)
				}
			default:
				t.Errorf("%s:%d: no test reads blocks of language %q", file, b.line, b.language)
			}
		}
		for i, line := range strings.Split(outsideOfBlocks(text), "\n") {
			if strings.HasPrefix(line, "    weir ") || strings.HasPrefix(line, "    $ ") {
				t.Errorf("%s:%d: commands stand in a block between fences", file, i+1)
			}
		}
	}
	for i, n := range notRun {
		if !seen[i] {
			t.Errorf("%s has no block %q (%s)", n.page, n.first, n.why)
		}
	}
}

// placeholder is a word that stands for a command.
var placeholder = regexp.MustCompile(`^(?:COMMAND|TOOL)$`)

// Commands that a sentence or table names exist, with their flags.
func TestCommandsInTheTextExist(t *testing.T) {
	if err := build(); err != nil {
		t.Fatal(err)
	}
	for _, file := range pageFiles(t) {
		for i, line := range strings.Split(outsideOfBlocks(pageText(t, file)), "\n") {
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				for _, words := range commandLines(strings.ReplaceAll(m[1], `\|`, "/")) {
					// weir import TOOL --flag: which flags there are depends on what TOOL stands for
					if i := slices.IndexFunc(words, placeholder.MatchString); i > 0 {
						words = words[:i]
					}
					if len(words) > 1 && words[1] == "guard" {
						continue // is not for users
					}
					if err := known(words); err != nil {
						t.Errorf("%s:%d: %s: %v", file, i+1, m[1], err)
					}
				}
			}
		}
	}
}
