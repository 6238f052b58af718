package fabric

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The transports of built-in fabrics are those that their C reports.
func TestTransportsAreThoseOfTheEngine(t *testing.T) {
	for file, c := range map[string]struct {
		of      Fabric
		pattern string
	}{
		"fab_shm.c":        {shm, `carrier_add\(list, CARRIES_DATA, "([^"]+)"`},
		"fab_tcp.c":        {tcp, `carrier_add\(list, CARRIES_DATA, "([^"]+)"`},
		"fab_cuda_peers.c": {cuda, `\[PATH_[A-Z_]+\] = "([^"]+)"`},
	} {
		content, err := os.ReadFile("../engine/native/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range regexp.MustCompile(c.pattern).FindAllStringSubmatch(string(content), -1) {
			names = append(names, m[1])
		}
		want := slices.Sorted(slices.Values(c.of.Transports))
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s reports %q, fabric %s has %q", file, names, c.of.Name, want)
		}
	}
}
