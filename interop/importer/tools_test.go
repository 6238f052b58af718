package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// CommandLines returns, for each tool, a command line with each of its flags, for fuzzing.
func CommandLines() map[string][]string {
	lines := map[string][]string{}
	for _, t := range allTools() {
		call := t.called()[0] + strings.Repeat(" host", min(1, strings.Count(t.name, "perftest")))
		for _, f := range t.Flags {
			line := call + " " + dashed(f.Names[0])
			if values := sortedKeys(f.Values); f.Takes != nothing {
				value := map[valueKind]string{boolean: "true", number: "4", text: "x"}[f.Takes]
				line += " " + cmp.Or(strings.Join(values[:min(1, len(values))], ""), f.Default, value)
			}
			lines[t.name] = append(lines[t.name], line)
		}
		lines[t.name] = append(lines[t.name], call)
		for _, name := range slices.Sorted(maps.Keys(t.Tests)) {
			lines[t.name] = append(lines[t.name], call+" -t "+name, name+" host")
		}
	}
	return lines
}

// Mistakes in a file of tools/ are errors.
func TestFileOfTool(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown key":   "style: getopt\nflagz: []\n",
		"an unknown style": "style: posix\n",
		"no fate":          "style: getopt\nflags: [{flag: a}]\n",
		"two fates":        "style: getopt\nflags: [{flag: a, option: b, ignored: c}]\n",
		"an unknown kind":  "style: getopt\nflags: [{flag: a, takes: real, ignored: c}]\n",
	} {
		if (&tool{}).load([]byte(text)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
