package planner

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const twoRuns = `
scenario: s
runs:
  a:
    workload: transfer
    options: {op: write, verify: full}
    env: {UCX_TLS: tcp}
    sweep:
      block_size: [4KiB, 8KiB]
      fabric: [shm, tcp]
    assert: [bandwidth >= 1 GB/s, latency.p50 increases with block_size]
  b:
    workload: transfer
    needs: [a]
    sweep: {block_size: [4KiB, 8KiB]}
`

// The same with comments, other key order, other spellings of the same values.
const twoRunsShuffled = `
# a comment
scenario: s
description: says nothing new
runs:
  b:
    sweep: {block_size: [4096, 8 KiB]}
    needs: [a]
    workload: transfer
  a:
    assert: [bandwidth >= 1000 MB/s, latency.p50   increases with block_size]
    sweep:
      fabric: [shm, tcp]
      block_size: 4KiB..8KiB x2
    env: {UCX_TLS: "tcp"}
    options: {verify: full, op: write, batch: 1}
    workload: transfer
`

func TestDigestIsOfContentAlone(t *testing.T) {
	p, q := build(t, twoRuns), build(t, twoRunsShuffled)
	for _, c := range p.Cases {
		o := q.Case(c.Key)
		if o == nil {
			t.Fatalf("no case %s in the shuffled scenario", c.Key)
		}
		equal(t, "id of "+c.Key, o.ID, c.ID)
	}
	equal(t, "digest", q.Digest, p.Digest)
	equal(t, "scenario digest", q.Scenario.Digest, p.Scenario.Digest)
	r, _ := plan(t, "other.yaml", twoRuns)
	equal(t, "digest under another file name", r.Digest, p.Digest)
}

func TestDigestSeesEverythingThatIsRunOrJudged(t *testing.T) {
	p := build(t, twoRuns)
	for _, change := range [][2]string{
		{"4KiB, 8KiB", "4KiB, 16KiB"},
		{"verify: full", "verify: none"},
		{"UCX_TLS: tcp", "UCX_TLS: rc"},
		{">= 1 GB/s", ">= 2 GB/s"},
		{"increases", "decreases"},
		{"needs: [a]", "needs: []"},
		{"    needs: [a]", "    when: fabric in host.fabrics\n    needs: [a]"},
		{"    needs: [a]", "    launches: 7\n    needs: [a]"},
		{"    needs: [a]", "    timeout: 7s\n    needs: [a]"},
		{"scenario: s", "scenario: s\ncluster: {nodes: 2}"},
		{"scenario: s", "scenario: s\nchecks: [{name: c, command: [\"true\"]}]"},
	} {
		text := strings.ReplaceAll(twoRuns, change[0], change[1])
		if text == twoRuns {
			t.Fatalf("%q is not in the scenario", change[0])
		}
		s, _ := plan(t, "test.yaml", text)
		if s == nil {
			t.Fatalf("cannot plan with %q", change[1])
		}
		if s.Digest == p.Digest {
			t.Errorf("%q does not change the digest", change[1])
		}
	}
}

func TestBothSyntaxesOfAnExampleGiveOneDigest(t *testing.T) {
	for _, name := range []string{"quickstart", "traffic", "traffic_sequence"} {
		var digests []string
		for _, extension := range []string{".yaml", ".hcl"} {
			path := filepath.Join("..", "examples", name+extension)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, diags := plan(t, path, string(b))
			if diags.HasErrors() {
				t.Fatal(render(diags))
			}
			digests = append(digests, p.Digest)
		}
		equal(t, "digests of "+name, digests[1], digests[0])
	}
}

func TestSavedPlanIsReadBackUnchanged(t *testing.T) {
	for _, text := range []string{twoRuns, valued} {
		p := build(t, text)
		path := filepath.Join(t.TempDir(), "plan.json")
		save(t, p, path)
		q, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "plan", q, p)
		if err := q.Verify(); err != nil {
			t.Error(err)
		}
	}
}

func TestChangedPlanIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"option":    func(p *Plan) { p.Cases[0].Options["iterations"] = int64(1) },
		"env":       func(p *Plan) { p.Cases[0].Env["UCX_TLS"] = "rc" },
		"assertion": func(p *Plan) { *p.Cases[0].Assertions[0].Bounds.Lower = 0 },
		"looks":     func(p *Plan) { p.Groups[0].Looks = []int{1} },
		"case gone": func(p *Plan) { p.Cases = p.Cases[1:] },
		"when":      func(p *Plan) { p.Cases[0].When = "false" },
		"text":      func(p *Plan) { p.Cases[0].Assertions[0].Text = "bandwidth >= 99 GB/s" },
		"lowered":   func(p *Plan) { p.Cases[0].Assertions[0].Lowered = "bandwidth in [99, ∞) GB/s" },
		"name":      func(p *Plan) { p.Scenario.Name = "other" },
	} {
		p := build(t, twoRuns)
		path := filepath.Join(t.TempDir(), "plan.json")
		save(t, p, path)
		change(p)
		if err := os.WriteFile(path, encode(p), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); !errors.Is(err, ErrDigest) {
			t.Errorf("%s: got %v, want ErrDigest", name, err)
		}
	}
}

func TestReadRefusesOtherDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	b, _ := json.Marshal(map[string]string{"schema": "weir.plan/v9"})
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "weir.plan/v9") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyPartsAreRefused(t *testing.T) {
	for _, part := range []string{"runs", "cases", "launch_groups"} {
		if _, err := decode([]byte(`{"schema": "weir.plan/v1", "` + part + `": [null]}`)); err == nil ||
			!strings.Contains(err.Error(), "empty run, case or launch group") {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func save(t *testing.T, p *Plan, path string) {
	t.Helper()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
