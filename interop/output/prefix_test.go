package output

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// prefixed puts a text before each line.
func prefixed(prefix string, output []byte) []byte {
	lines := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	return []byte(prefix + strings.Join(lines, "\n"+prefix) + "\n")
}

// What a log collector writes before all lines changes no result. A stamp has other numbers on each line.
func TestPrefixesOfCollectors(t *testing.T) {
	for _, prefix := range []string{
		"perf-5d7f9c6b8-x2x4z bench ", "perf-0 bench 2026-03-02T11:20:01.123456789Z ", "[pod/perf-0/bench] ",
		"default/perf-0[bench]: ", "[perf-0 bench] ", "perf-0: ", "node[01-02]: ", "2026-03-02T11:20:01.1Z stdout F ",
		"build\tRun bench\t2026-03-02T11:20:01.1234567Z ", "[2026-03-02, 11:20:01 UTC] {subprocess.py:93} INFO - ",
		"(bench pid=1234, ip=10.0.0.1) ", "[0@node1] ", "> ", "\t",
	} {
		for _, f := range Formats() {
			for name, text := range outputs(t, f.Name) {
				want, err := f.Read(text)
				if err != nil {
					t.Fatal(err)
				}
				found, err := f.Read(prefixed(prefix, text))
				same := func(a, b Row) bool { return maps.Equal(a.At, b.At) && maps.Equal(a.Values, b.Values) }
				if name != "terse_5.txt" && (err != nil || !slices.EqualFunc(found, want, same)) {
					t.Errorf("%q before %s/%s: %v, %v", prefix, f.Name, name, found, err) // one line has no prefix
				}
			}
		}
	}
	f := formatOf(t, "perftest")
	text := outputs(t, "perftest")["made_write_bw.txt"]
	stern := "+ perf-0 › bench\n" + string(prefixed("perf-0 bench ", text)) + "- perf-0 › bench\n"
	if found, err := f.Read([]byte(stern)); err != nil || len(found) != 3 {
		t.Errorf("what stern says of containers: %v, %v", found, err)
	}
	torn := strings.Replace(stern, "11020.31            11010.07", "11020.31", 1)
	if _, err := f.Read([]byte(torn)); err == nil {
		t.Error("a torn row behind a prefix is read")
	}
}

func TestWithoutPrefix(t *testing.T) {
	for text, want := range map[string]string{
		"p-1 a\np-22 b\np-3 \n":            "a\nb\n\n",
		"p-1 a\np-2 b\nq-3 c\n":            "",
		"p a\np b\n":                       "",
		"p {\"a\": 1}\n":                   "{\"a\": 1}\n",
		"p a\np b\np c":                    "",
		"ab\nac\nad\n":                     "",
		"\ufeffp a\r\np b\r\n\x1b[0mp c\n": "a\r\nb\r\nc\n",
	} {
		got, ok := withoutPrefix([]byte(text))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}
