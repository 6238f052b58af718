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
		vars, err := parseVariables("f", text)
		if err != nil {
			return
		}
		for name, v := range vars {
			if line := text[v.at.Start.Byte:v.at.End.Byte]; !strings.HasPrefix(line,
				name) || !strings.Contains(line, v.text) {
				t.Errorf("%q is not at %q", name, line)
			}
			if name == "" || name != strings.TrimSpace(name) || strings.ContainsAny(name, "=:\n") {
				t.Errorf("name %q", name)
			}
		}
	})
}
