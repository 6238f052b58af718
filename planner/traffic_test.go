package planner

import (
	"testing"

	"github.com/weir-bench/weir/dsl"
	cells "github.com/weir-bench/weir/workload/traffic"
)

const traffic = `
scenario: traffic
runs:
  written:
    workload: traffic
    options: {matrix: [[0, 4M, 64K], [0, 0, 7], [1G, 0, 0]]}
    sweep: {shards: [1, 4]}
  generated:
    workload: traffic
    options: {generate: sparse 4MiB peers=2, ranks: 8}
  swept:
    workload: traffic
    sweep: {generate: [ring 64KiB, incast 1MiB], ranks: [4, 8], fabric: [shm, tcp]}
`

// Cases with the same matrix share a launch with its ranks; others do not.
func TestMatricesDecideWhoSharesALaunch(t *testing.T) {
	p := build(t, traffic)
	got := map[string]int{}
	for _, g := range p.Groups {
		got[g.ID] = g.Ranks
	}
	equal(t, "groups", got, map[string]int{
		"written": 3, "generated": 8,
		`swept[fabric=shm,generate="ring 64KiB",ranks=4]`:           4,
		`swept[fabric=shm,generate="incast 1MiB target=0",ranks=4]`: 4,
		`swept[fabric=shm,generate="ring 64KiB",ranks=8]`:           8,
		`swept[fabric=shm,generate="incast 1MiB target=0",ranks=8]`: 8,
		`swept[fabric=tcp,generate="ring 64KiB",ranks=4]`:           4,
		`swept[fabric=tcp,generate="incast 1MiB target=0",ranks=4]`: 4,
		`swept[fabric=tcp,generate="ring 64KiB",ranks=8]`:           8,
		`swept[fabric=tcp,generate="incast 1MiB target=0",ranks=8]`: 8,
	})
	if o := p.Case("written[shards=4]").Options; o["matrix"] != "3: 0>1=4194304,2=65536 1>2=7 2>0=1073741824" ||
		o["ranks"] != int64(3) {
		t.Errorf("%v", o)
	}
}

// A matrix gives the same plan in every spelling.
func TestMatricesWrittenInSeveralWaysAreOnePlan(t *testing.T) {
	files := map[string]string{"m.txt": "# from a file\n0 4K 0\n0 0 1.5K\n1 0 0\n"}
	digest := func(name, src string) string {
		s := read(t, name, src, dsl.Options{
			Read: func(path string) ([]byte, error) { return []byte(files[path]), nil },
		})
		p, diags := Build(s)
		if diags.HasErrors() {
			t.Fatalf("%s: %s", name, render(diags))
		}
		return p.Digest
	}
	digests := map[string]string{}
	for name, src := range map[string]string{
		"list.yaml": "scenario: s\nruns: {a: {workload: traffic, options: {matrix: [[0, 4KiB, 0], [0, 0, 1536], [1B, 0, 0]]}}}\n",
		"text.yaml": "scenario: s\nruns:\n  a:\n    workload: traffic\n    options:\n      matrix: |\n        0 4096 0\n        0 0 1.5K\n        1 0 0\n",
		"file.yaml": "scenario: s\nruns: {a: {workload: traffic, options: {matrix_file: m.txt, ranks: 3}}}\n",
		"list.hcl":  "scenario \"s\" {\nrun \"a\" {\nworkload = \"traffic\"\noptions { matrix = [[0, \"4K\", 0], [0, 0, 1536], [1, 0, 0]] }\n}\n}\n",
		"text.hcl":  "scenario \"s\" {\nrun \"a\" {\nworkload = \"traffic\"\noptions { matrix = \"3: 0>1=4096 1>2=1536 2>0=1\" }\n}\n}\n",
		"file.hcl":  "scenario \"s\" {\nrun \"a\" {\nworkload = \"traffic\"\noptions { matrix_file = \"m.txt\" }\n}\n}\n",
	} {
		digests[digest(name, src)] += " " + name
	}
	if len(digests) != 1 {
		t.Errorf("%v", digests)
	}
	files["m.txt"] = "0 4K 0\n0 0 1.5K\n2 0 0\n"
	other := "scenario: s\nruns: {a: {workload: traffic, options: {matrix_file: m.txt}}}\n"
	if digests[digest("file.yaml", other)] != "" {
		t.Error("another matrix in the file is the same plan")
	}
}

// A saved plan contains its matrices: the files are not read again.
func TestSavedPlansHoldTheirMatrices(t *testing.T) {
	p, diags := Build(read(t, "s.yaml", "scenario: s\nruns: {a: {workload: traffic, sweep: {matrix_file: [m.txt], shards: [1, 2]}}}\n",
		dsl.Options{Read: func(string) ([]byte, error) { return []byte("0 4K\n1 0\n"), nil }}))
	if diags.HasErrors() {
		t.Fatal(render(diags))
	}
	back := saved(t, p)
	c := back.Case("a[matrix_file=m.txt,shards=2]")
	if c == nil {
		t.Fatalf("%v", keys(back))
	}
	o, err := cells.Decode(c.Options)
	if err != nil || o.Matrix.Compact() != "2: 0>1=4096 1>0=1" || o.Ranks != 2 || o.Shards != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTrafficThatCannotBePlanned(t *testing.T) {
	for options, want := range map[string]string{
		"{matrix: '2: 0>1=5'}, sweep: {ranks: [2, 3]}":          "it has 2 ranks, but option ranks is 3",
		"{generate: block_diagonal 1KiB block=3, ranks: 4}":     "4 ranks cannot be divided into groups of 3",
		"{matrix: '2: 0>1=5', fabric: sim}":                     "fabric sim has no model of a matrix",
		"{matrix: '2: 0>1=5', fabric: ucx, api: tag}":           "posts receives ahead",
		"{matrix: '2: 0>1=5', fabric: ucx, api: am, op: read}":  "nothing in them reads",
		"{matrix: '2: 0>1=5', fabric: ucx, pages: 2MiB}":        "allocates the buffers itself",
		"{generate: sparse 1KiB peers=4, ranks: 4, warmup: 30}": "cannot send to 4 others",
	} {
		mentions(t, refuse(t, "scenario: s\nruns:\n  a: {workload: traffic, options: "+options+"}\n"), 3,
			"Options that do not go together", want)
	}
}

func TestChangesOfMatricesAreShownByWhatTheyAmountTo(t *testing.T) {
	of := func(matrix string) *Plan {
		return build(t, "scenario: s\nruns: {a: {workload: traffic, options: {matrix: '"+matrix+"'}}}\n")
	}
	for other, want := range map[string]string{
		"2: 0>1=4096 1>0=4096": "matrix: 2 ranks, 1 cell, 4KiB → 2 ranks, 2 cells, 8KiB",
		"2: 1>0=4096":          "matrix: other cells of 2 ranks, 1 cell, 4KiB",
	} {
		changes, _ := Diff(of("2: 0>1=4096"), of(other))
		if len(changes) != 1 || len(changes[0].Why) != 1 || changes[0].Why[0] != want {
			t.Errorf("%+v, want %q", changes, want)
		}
	}
}
