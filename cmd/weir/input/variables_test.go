package input

import (
	"strings"
	"testing"
)

// FuzzParseVariables: a file of variables is refused at a line that it has, or
// every name in it is one that could be written there.
func FuzzParseVariables(f *testing.F) {
	f.Add("# site\nleast = \"2 GB/s\"\nfabric: tcp\n")
	f.Add("=\n")
	f.Fuzz(func(t *testing.T, text string) {
		vars := map[string]string{}
		if parseVariables(text, vars) != nil {
			return
		}
		for name := range vars {
			if name == "" || name != strings.TrimSpace(name) || strings.ContainsAny(name, "=:\n") {
				t.Errorf("name %q", name)
			}
		}
	})
}
