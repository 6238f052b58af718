package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// What a script runs only sometimes, or judges itself, is told with its line.
func TestWhatIsToldOfBranches(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw -s "
	for script, want := range map[string]string{
		"if [ $A = 1 ]; then\n" + u + "1\nelse\n" + u + "2\nfi":  "lines 2, 4 are in branches of line 1",
		"if [ -f x ]; then\n" + u + "1\nfi":                      "line 2 runs only if the condition of line 1 holds",
		u + "1 ||\n" + u + "2":                                   "line 2 runs only if the condition of line 1 holds",
		"case $A in\na) " + u + "1;;\nb) " + u + "2;;\nesac":     "lines 2, 3 are in branches of line 1",
		"if [ ${N:-1} -gt 1 ]; then\n" + u + "1\nfi\n" + u + "2": "line 2 runs only with another value of N than",
		u + "1 | awk '{ if ($1 < 5) exit 1 }'":                   "line 1 judges what programs print",
		u + "1 > f\ngrep -q OK f || exit 1":                      "line 2 fails the script by what grep reads",
		u + "1\nif " + u + "2 | grep -q x; then exit 1; fi":      "line 2 fails the script by what grep reads",
		u + "1\n$BENCH -s 8":                                     "line 2: only the shell knows which program $BENCH",
		"- run: " + u + "1\n" + u + "2":                          "x.sh:1: weir reads no steps of a workflow",
		"bench:\n\t@" + u + "1\n" + u + "2":                      "x.sh:2: weir reads no recipes of a Makefile",
		"timeout 9 numactl -N 0 nice -n 5 " + u + "1":            "nice is not taken over",
		"f\nf() { " + u + "1; }":                                 "line 1 calls function f before line 2 defines it",
		"for i in 1 2; do f $i; done\nf() { " + u + "$1; }":      "line 1 calls function f before line 2",
		"run: " + u + "1\n" + u + "2":                            "x.sh:1: weir reads no keys of a workflow",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{Memory: "dram"})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if made != nil {
			for _, n := range made.Notes {
				said += "\n" + n.Text
			}
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %q is not in %s", script, want, said)
		}
	}
	made := scenarioOf(t, "cd x && "+u+"1\n[ $((2 > 1)) = 1 ] && "+u+"2", importer.Options{Memory: "dram"}, nil)
	for _, n := range made.Notes {
		if strings.Contains(n.Text, "runs only if") {
			t.Errorf("told: %s", n.Text)
		}
	}
}

// Files, long flags and loops without a condition are read where their values are known.
func TestFurtherLoopsOfScripts(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw -s "
	for _, c := range []struct{ script, want string }{
		{"printf '%s\\n' 4 8 > f; parallel -j 1 " + u + "{} :::: f; parallel -j1 -a f " + u + "1{}", "4 8 14 18"},
		{"echo 4 8 | xargs --max-args=1 " + u + "; seq 2 | xargs --replace " + u + "{}", "4 8 1 2"},
		{"for s in $(seq 0.5 0.5 2) $(seq 1.50 2.6) $(seq 2.5); do " + u + "1${s/./}; done",
			"105 110 115 120 1150 1250 11 12"},
		{"echo 4 > f; echo 8 > g; for s in $(cat f g); do " + u + "$s; done", "4 8"},
		{"printf 'x\\n4\\n8\\n' > f; tail -n +2 f | while read s; do " + u + "$s; done", "4 8"},
		{"printf '4\\n8\\n' > f; " + u + "$(head -2 f | tail -1)", "8"},
		{"seq 3 4 | xargs --replace=N " + u + "N", "3 4"},
		{"n=0; for ((;;)); do ((n++ >= 2)) && break; " + u + "$n; done", "1 2"},
		{"for ((i = 0, s = 4; i < 2; i++, s *= 2)); do " + u + "$s; done", "4 8"},
		{"b() { " + u + "$1; }; b 4; b() { " + u + "1$1; }; b 8", "4 18"},
		{"a=(ucx_perftest h -t tag_bw -n 5); for s in 4 8; do \"${a[@]:0:4}\" -s $s; done", "4 8"},
		{"eval 'v=8'; n=v; " + u + "${!n}; bash -c \"bash -c '" + u + "4'\"", "8 4"},
	} {
		if got := sizesOf(t, c.script); got != c.want {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
	}
}
