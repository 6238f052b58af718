package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// loadsOf returns the loads of the cases of a script with calls of curl: how many requests run together or their rate,
// and how many or how long they are. "?": who runs the scenario says it.
func loadsOf(t *testing.T, script string) string {
	t.Helper()
	made, err := importer.Script("x.sh", script+"\n", importer.Options{})
	if err != nil {
		return err.Error()
	}
	var loads []string
	for _, c := range planned(t, made.Scenario).Cases {
		of := func(name string) string {
			v := fmt.Sprint(c.Options[name])
			if slices.Contains(made.Variables, name) {
				v = "?"
			}
			return v
		}
		load := of("concurrency")
		if c.Options["rate"] != nil && fmt.Sprint(c.Options["rate"]) != "0" && fmt.Sprint(c.Options["rate"]) != "0/s" {
			load = of("rate") + " " + of("arrivals")
		}
		amount := of("requests")
		if amount == "0" || amount == "<nil>" {
			amount = of("duration")
		}
		loads = append(loads, load+":"+amount)
	}
	return strings.Join(loads, ", ")
}

// loads are scripts behind their loads. CURL sends a request, NUMBERED one with $i, and QUOTED is CURL in quotes.
const loads = `
10:10                | for i in {1..10}; do NUMBERED & done; wait
1:1, 1:1             | for i in {1..2}; do NUMBERED; done
1:2, 4:8             | for c in 1 4; do seq $((c * 2)) | xargs -P $c -I{} CURL; done
1:8, 4:8             | for c in 1 4; do seq 8 | xargs -P $c -I{} curl h -d '{"model":"m","prompt":"a {}"}'; done
9:9                  | seq 9 | xargs -P 0 -I{} CURL
?:9                  | seq 9 | xargs -P $X -I{} CURL
1:9                  | seq 9 | xargs -n1 -I{} CURL
4:9                  | seq 9 | xargs -n1 -P4 sh -c "QUOTED" _
3:6                  | seq 6 | parallel -j 3 "QUOTED #{}"
?:6                  | seq 6 | parallel "QUOTED #{}"
5:100                | for i in {1..20}; do for j in {1..5}; do CURL & done; wait; done
5:5, 5:5             | for i in 1 2; do for j in {1..5}; do NUMBERED & done; wait; done
3:6                  | for j in 1 2; do for i in $j-1 $j-2 $j-3; do NUMBERED & done; wait; done
10:100               | for i in {1..100}; do CURL & if ((i % 10 == 0)); then wait; fi; done
10:100               | for i in {1..100}; do CURL & ((i % 10 == 0)) && wait; done
3:9                  | for ((i = 1; i <= 9; i++)); do NUMBERED & [ $((i % 3)) -eq 0 ] && wait; done
1:10                 | for i in {1..10}; do CURL & wait $!; done
?:10                 | for i in {1..10}; do CURL & if x; then wait; fi; done
5:10                 | for i in {1..10}; do CURL & if ((i > 4)); then wait -n; fi; done; wait
10:10                | for i in {1..10}; do CURL & pids+=($!); done; for p in $X; do wait $p; done
?:5000               | for i in $(seq 5000); do CURL & ((i % 10)) || wait; done
?:9                  | for i in {1..9}; do CURL & while (($(jobs | wc -l) > 3)); do sleep 1; done; done
8:40                 | one() { for i in {1..5}; do CURL; done; }; for u in {1..8}; do one & done; wait
3:6                  | one() { for k in 1 2; do CURL; wait; done; }; for u in 1 2 3; do one & done; wait
1:9, 2:18, 4:36      | for c in 1 2 4; do for ((u = 0; u < c; u++)); do (for j in {1..9}; do CURL; done) & done; wait; done
3:6                  | for u in {1..3}; do (for i in 1 2; do NUMBERED; done) & done; wait
3:6                  | for u in {1..3}; do { CURL; CURL; } & done; wait
2:2                  | for u in 1 2; do bash -c "QUOTED" & done; wait
1:1, 4:4             | for c in 1 4; do for i in $(seq $c); do NUMBERED & done; wait; sleep 5; done
1:2, 1:4             | for c in 2 4; do for i in $(seq $c); do CURL; done; done
1:3, 4:12            | for r in 1 2 3; do for c in 1 4; do for i in $(seq $c); do CURL & done; wait; done; done
4:4                  | N=4; { N=9; } & for i in $(seq $N | head -n 6); do CURL & done; wait
3:3                  | f() { CURL; return; CURL; }; for i in 1 2 3; do f & done; wait
4:4                  | for i in 1 2; do { for j in 1 2; do CURL & done; break; wait; } & done; wait
4:4                  | i=1; while :; do CURL & i=$((i + 1)); [ $i -gt 4 ] && break; done; wait
2:3                  | printf 'a,b,c' | xargs -d, -n1 -P2 sh -c "QUOTED" _
2:2                  | CURL & CURL & wait
3:3, 1:1             | for i in {1..3}; do CURL & done; wait; CURL
1:5000               | for i in $(seq 5000); do CURL; done
1:5000               | for i in $(seq -w 5000); do CURL; done
1:5000               | for i in {1..5000}; do CURL; done
1:5000               | for ((i = 0; i < 5000; i++)); do CURL; done
1:?                  | for i in $(seq $N); do CURL; done
?:?                  | for i in $(seq $N); do CURL & done
1:?                  | while true; do CURL; done
?:?                  | for i in {1..200}; do for ((j = 0; 1; j++)); do CURL & done; echo $i; done
?:?                  | while sleep 1; do CURL & done
1:60s                | end=$((SECONDS + 60)); while [ $SECONDS -lt $end ]; do CURL; done
2:30s                | D=30; E=$(($(date +%s) + D)); for u in 1 2; do (while (($(date +%s) < E)); do CURL; done) & done
1:20s                | SECONDS=0; until [[ $SECONDS -ge 20 ]]; do CURL; done
1:60s                | end=$((SECONDS + 60)); (end=$((SECONDS + 5))); while [ $SECONDS -lt $end ]; do CURL; done
1:9s                 | s=$(date +%s); while [ $(($(date +%s) - s)) -lt 9 ]; do CURL; done
1:?                  | while [ $SECONDS -lt $end ]; do CURL; done
1:30                 | for i in {1..30}; do CURL; sleep 1; done
10/s constant:30     | for i in {1..30}; do CURL & sleep 0.1; done; wait
1/s constant:30      | for i in {1..30}; do NUMBERED & sleep 0.5; sleep 0.5; done; wait
5/s burst:5:50       | for i in {1..10}; do for j in {1..5}; do CURL & done; sleep 1; done; wait
5:50                 | for i in {1..10}; do for j in {1..5}; do CURL & done; wait; sleep 1; done
2/s constant:9s      | while [ $SECONDS -lt 9 ]; do CURL & sleep 0.5; done
the rate of requests | for i in {1..10}; do CURL & sleep $X; done; wait
the rate of requests | for i in {1..10}; do (CURL; CURL) & sleep 1; done; wait
`

// As many requests run together as the script has in flight, whatever its loops, jobs and waits are.
func TestRequestsThatRunTogether(t *testing.T) {
	const curl = "curl http://h/v1/completions -d '{\"model\":\"m\",\"prompt\":\"a\"}'"
	words := strings.NewReplacer("CURL", curl, "NUMBERED", strings.Replace(curl, "\"a", "\"a '$i'", 1),
		"QUOTED", strings.ReplaceAll(strings.ReplaceAll(curl, "\"", "\\\\\\\""), "'", "\\\""))
	for line := range strings.Lines(strings.TrimSpace(loads)) {
		want, script, _ := strings.Cut(strings.TrimSpace(line), "| ")
		want = strings.TrimSpace(want)
		got := loadsOf(t, words.Replace(script))
		if is := !strings.Contains(want, ":") && strings.Contains(got, want); got != want && !is {
			t.Errorf("%s\n%s, want %s", script, got, want)
		}
	}
}

// What requests that run together differ in is told, and prompts that differ have beginnings of their own.
func TestRequestsThatDiffer(t *testing.T) {
	const of = "for i in 1 2; do curl http://h/v1/completions -H \"X: $h\" " +
		"-d '{\"model\":\"m\",\"prompt\":\"a '$p'\",\"seed\":'$s'}' & done; wait"
	for varying, want := range map[string]string{
		"$h": ": headers differ between the requests that run together: all have those of the first",
		"$p": ": prompts differ between the requests that run together: all have that of the first, behind a beginning of their own",
		"$s": ": further fields of -d differ between the requests that run together: all have those of the first",
	} {
		line := of
		for _, name := range []string{"$h", "$p", "$s"} {
			if as := "3"; name == varying {
				line = strings.Replace(line, name, "$i", 1)
			} else {
				line = strings.Replace(line, name, as, 1)
			}
		}
		made := scenarioOf(t, line, importer.Options{}, []string{want, "concurrency: 2"})
		if strings.Count(string(made.Scenario), " differ ") != 1 ||
			strings.Contains(string(made.Scenario), "prefix: none") != (varying != "$p") {
			t.Errorf("%s\n%s", line, made.Scenario)
		}
	}
}

// Benchmarks that the script runs together are told to run one after another, and no others.
func TestBenchmarksThatRunTogether(t *testing.T) {
	const bw, lat = "ib_write_bw -s 8 h", "ib_write_lat -s 8 h"
	for script, want := range map[string]string{
		"for d in 0 1; do ib_write_bw -d mlx5_$d h & done; wait":                       "&",
		"for p in 1 2; do vllm bench serve --model m --port $p --num-prompts 9 & done": "&",
		"for i in 1 2; do " + bw + " & done; wait":                                     "&",
		"for n in 1 2; do for i in $(seq $n); do " + bw + " & done; wait; done":        "&",
		bw + " &\n" + lat:                                   "&",
		"fio --name=x &\n" + lat:                            "&",
		"f() { " + bw + "; }; f & " + lat:                   "&",
		"bash -c '" + bw + " & " + lat + "'":                "&",
		"(" + bw + "; " + lat + ") & fio --name=x":          "&",
		"for h in a b; do ssh $h iperf3 -c c & done; wait":  "&",
		"echo 4 8 | xargs -n1 -P2 ib_write_bw h -s":         "xargs -P",
		"echo 4 8 | xargs -n1 -P1 ib_write_bw h -s":         "",
		"echo 4 8 | xargs -n1 ib_write_bw h -s":             "",
		"echo 4 | xargs -n1 -P2 ib_write_bw h -s":           "",
		"parallel ib_write_bw h -s ::: 4 8":                 "parallel",
		bw + "; " + lat + " &":                              "",
		bw + " & wait; " + lat + " & wait":                  "",
		"for s in 4 8; do ib_write_bw -s $s h & wait; done": "",
		"for i in 1 2; do " + bw + " & wait; done":          "",
		"ib_write_bw -s 8 & sleep 1; " + bw:                 "",
		"(" + bw + "; " + lat + ") & wait":                  "",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{Memory: "dram"})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		by := ""
		for _, n := range made.Notes {
			before, _, found := strings.Cut(n.Text, " runs commands together; the scenario runs them one after another")
			if found {
				by = before[strings.LastIndex(before, ": ")+1:]
			}
		}
		if strings.TrimSpace(by) != want {
			t.Errorf("%s: %q, want %q", script, by, want)
		}
	}
}

// What a script waits and sleeps for is told truly.
func TestFatesOfWaits(t *testing.T) {
	const curl = "curl http://h/v1/completions -d '{\"model\":\"m\",\"prompt\":\"a\"}'"
	for script, want := range map[string]string{
		"for i in 1 2; do " + curl + " & sleep 1; done": "sleep 1: the rate of requests",
		"for i in 1 2; do " + curl + "; sleep 1; done":  "sleep 1: nothing: the load sends the next request when one ends",
		curl + " & wait": "wait: nothing: weir waits for the end of each run, and until its services are ready",
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if err != nil || !slices.ContainsFunc(made.Fates, func(f *importer.Fate) bool {
			return f.Command+": "+f.Became == want
		}) {
			t.Errorf("%s: no %q, %v", script, want, err)
		}
	}
}
