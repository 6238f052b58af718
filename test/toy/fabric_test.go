package toy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

const overToy = `scenario: toy
runs:
  move:
    workload: transfer
    options: {fabric: toy, ranks: 2, block_size: 64KiB, iterations: 200, verify: full}
    assert:
      - bandwidth > 1MB/s
`

// changed is a text in which an expression is found and replaced.
func changed(t *testing.T, text, expression, by string) string {
	t.Helper()
	e := regexp.MustCompile(expression)
	if !e.MatchString(text) {
		t.Fatalf("there is no %s", expression)
	}
	return e.ReplaceAllString(text, by)
}

// withToy are the files of a weir with a fabric more, as CONTRIBUTING.md says: its Go and C
// files, and a line in each of two lists. The C is that of shm under another name, which
// reads an option.
func withToy(t *testing.T) map[string]string {
	t.Helper()
	const engine, opens = "engine/native/", `\.open = (\w+),`
	c := source(t, engine+"fab_shm.c")
	open := regexp.MustCompile(opens).FindStringSubmatch(c)
	if open == nil {
		t.Fatal("fab_shm.c has no function open")
	}
	c = changed(t, c, `"shm"`, `"toy"`)
	c = changed(t, c, opens, ".open = toy_open,")
	c = changed(t, c, `const struct weir_fabric weir_fab_shm`, `#include "rank_options.h"

static int toy_open(struct weir_rank *r)
{
    int refuse = 0, rc = option_bool(r, "toy_refuse", &refuse);
    if (refuse)
        return rank_fail(r, -EPERM, "open", -1, "toy_refuse is true");
    return rc < 0 ? rc : `+open[1]+`(r);
}

const struct weir_fabric weir_fab_toy`)
	return map[string]string{
		"fabric/toy.go":      source(t, "test/toy/testdata/toy.go"),
		engine + "fab_toy.c": c,
		"fabric/fabric.go":   changed(t, source(t, "fabric/fabric.go"), `(var All = \[\]Fabric\{[^}]*)\}`, "$1, toy}"),
		engine + "fabric.h":  changed(t, source(t, engine+"fabric.h"), `(#define WEIR_FABRICS\(F\) .*)`, "$1 F(toy)"),
	}
}

func TestAFabricIsItsFilesAndTwoLines(t *testing.T) {
	bin, dir := extended(t), t.TempDir()
	write(t, filepath.Join(dir, "toy.yaml"), overToy)
	write(t, filepath.Join(dir, "auto.yaml"), strings.Replace(overToy, "fabric: toy", "fabric: auto", 1))
	write(t, filepath.Join(dir, "heap.yaml"), strings.Replace(overToy, "verify: full", "alloc: heap", 1))
	write(t, filepath.Join(dir, "refused.yaml"), strings.Replace(overToy, "verify: full", "toy_refuse: true", 1))
	write(t, filepath.Join(dir, "other.yaml"),
		strings.Replace(overToy, "fabric: toy", "toy_refuse: true, fabric: shm", 1))

	if out := weir(t, dir, bin, 0, "probe", "toy"); !strings.Contains(out, "toy") {
		t.Errorf("the host: %s", out)
	}
	if out := weir(t, dir, bin, 0, "docs", "workloads", "transfer"); !strings.Contains(out,
		"whether a rank refuses to open the fabric") {
		t.Errorf("the options: %s", out)
	}
	if out := weir(t, dir, bin, 4, "validate", "heap.yaml"); !strings.Contains(out, "fabric toy has no alloc heap") {
		t.Errorf("what it lacks: %s", out)
	}
	if out := weir(t, dir, bin, 4, "validate", "other.yaml"); !strings.Contains(out, "toy_refuse") {
		t.Errorf("its option with another fabric: %s", out)
	}
	if out := weir(t, dir, bin, 0, "run", "--launches", "3", "--out", "out", "toy.yaml"); !strings.Contains(out,
		"passed: assertions: 1 pass") {
		t.Errorf("the run: %s", out)
	}
	checkFabric(t, filepath.Join(dir, "out"), "toy")
	weir(t, dir, bin, 0, "run", "--launches", "3", "--out", "auto", "auto.yaml")
	checkFabric(t, filepath.Join(dir, "auto"), "shm")
	if out := weir(t, dir, bin, 6, "run", "--launches", "3", "--out", "refused", "refused.yaml"); !strings.Contains(out,
		"toy: open: toy_refuse is true") {
		t.Errorf("its option: %s", out)
	}
}

// checkFabric holds the launches of a document against the fabric that they should have.
func checkFabric(t *testing.T, dir, fabric string) {
	t.Helper()
	doc, err := results.Read(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.Fabric != fabric || !l.Verified || l.Transport == "" {
				t.Errorf("%s, launch %d: fabric %s, verified %v, transport %q", c.Key, l.Index, l.Fabric, l.Verified,
					l.Transport)
			}
		}
		if len(c.Launches) != 3 {
			t.Errorf("%s has %d launches", c.Key, len(c.Launches))
		}
	}
}
