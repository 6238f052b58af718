package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cLayers are the layers of the C sources in engine/native, from the lowest on, as ARCHITECTURE.md has them: patterns
// of file names without extension, of which the first that matches counts. A file includes headers of its own layer
// and of lower ones.
var cLayers = []struct {
	name  string
	files string
}{
	{"leaves", "weir sys_* hist hist_stage pattern rank_team fabric_carriers kernels_* ep_rows ep_rows_* gpu_nvml gpu_path"},
	{"memory", "memory mem_* gpu_cuda gpu_images gpu_kernels gpu_load"},
	{"rank", "rank rank_options rank_thread rank_barrier rank_clocks rank_lists rank_ping rank_touch rank_handover fabric " +
		"fabric_unsupported"},
	{"loops", "loop loop_*"},
	{"fabrics", "fab_*"},
	{"ep rows", "ep ep_run ep_produce ep_pool"},
	{"gpu", "ep_gpu ep_gpu_launch ep_gpu_steps ep_gpu_tables ep_gpu_times ep_posted"},
	{"ep", "ep_gpu_chain ep_contents ep_check ep_operate ep_case"},
	{"elastic", "ep_steps"},
	{"life", "rank_life rank_open selftest"},
}

func layerOf(module string) int {
	return slices.IndexFunc(cLayers, func(l struct{ name, files string }) bool {
		return slices.ContainsFunc(strings.Fields(l.files), func(pattern string) bool {
			ok, _ := filepath.Match(pattern, module)
			return ok
		})
	})
}

var includes = regexp.MustCompile(`(?m)^#include "(\w+)\.h"`)

func TestIncludesOfCPointOneWay(t *testing.T) {
	arrows := map[string][]string{} // by module: a source and its header
	for _, path := range tracked(t, "engine/native/*.c", "engine/native/*.h") {
		if filepath.Dir(path) != "engine/native" {
			continue
		}
		module := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if layerOf(module) < 0 {
			t.Errorf("%s is in no layer: ARCHITECTURE.md and this test must say in which", path)
			continue
		}
		for _, m := range includes.FindAllSubmatch(read(t, path), -1) {
			other := string(m[1])
			if other != module {
				arrows[module] = append(arrows[module], other)
			}
			if layerOf(other) > layerOf(module) {
				t.Errorf("%s of layer %s includes %s.h of layer %s", path, cLayers[layerOf(module)].name, other,
					cLayers[layerOf(other)].name)
			}
		}
	}
	if len(arrows) == 0 {
		t.Fatal("no source of C includes anything")
	}
	for module := range arrows {
		if circle := wayBack(arrows, module, []string{module}, map[string]bool{}); circle != nil {
			t.Errorf("these include each other: %s", strings.Join(circle, " → "))
		}
	}
}

// wayBack is a way along arrows from the last of way to the first, nil if there is none.
func wayBack(arrows map[string][]string, at string, way []string, seen map[string]bool) []string {
	for _, next := range arrows[at] {
		if next == way[0] {
			return append(way, next)
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if circle := wayBack(arrows, next, append(way, next), seen); circle != nil {
			return circle
		}
	}
	return nil
}

// tracked are the files of a pattern that git knows, as far as they are there.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range strings.Fields(string(out)) {
		if _, err := os.Stat(path); err == nil { // else it is removed, and not committed yet
			all = append(all, path)
		}
	}
	if len(all) == 0 {
		t.Fatalf("there are no files %v", patterns)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
