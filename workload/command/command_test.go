package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

func values(t *testing.T, raw map[string]any) option.Values {
	t.Helper()
	v, err := Kind.Normalize(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Roles have one canonical text, independent of order and defaults, with the same meaning.
func TestRolesHaveOneText(t *testing.T) {
	const want = `{"server":{"node":"1","command":["s","-p","${port.a}"],"env":{"A":"$$HOME"},"place":{"cpus_per_rank":"2","numa":"1"},"ready":{"log":"up$$","within":"2s"},"ends":"with client"},` +
		`"client":{"command":["c","${role.server.address}"],"after":["server"]}}`
	for _, text := range []string{
		want,
		`{"server":{"ends":"with client","ready":{"within":"2000ms","log":"up$$"},"command":["s","-p","${port.a}"],"env":{"A":"$$HOME"},"node":"1","place":{"numa":"1","cpus_per_rank":"2"}},
		  "client":{"node":"0","ends":"by itself","after":"server","command":["c","${role.server.address}"]}}`,
	} {
		if got, err := canonicalRoles(text); err != nil || got != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}

func TestInvalidRoles(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                              "mapping from names of roles",
		`{"any":{"command":["x"]}}`:                       "any: a role is named",
		`{"a b":{"command":["x"]}}`:                       "a b: a role is named",
		`{"a":["x"]}`:                                     "a: it is a list, not a mapping",
		`{"a":{}}`:                                        "a: it has no command",
		`{"a":{"command":"x y"}}`:                         "a.command: it is a text, not a list",
		`{"a":{"command":[]}}`:                            "a.command: it has no program",
		`{"a":{"command":["x"],"nod":"1"}}`:               "a.nod: there is no such key",
		`{"a":{"command":["x"],"node":"-1"}}`:             "a.node:",
		`{"a":{"command":["x"],"node":"${port.a}"}}`:      "a.node: it is needed before the launch",
		`{"a":{"command":["x","${role.b.address}"]}}`:     `a: ${role.b.address}: there is no role "b"; there are a`,
		`{"a":{"command":["x","${x.y}"]}}`:                "a.command.1: there is no ${x.y}",
		`{"a":{"command":["x"],"env":{"1":"x"}}}`:         "a.env.1: no variable",
		`{"a":{"command":["x"],"after":["b"]}}`:           `a.after: there is no role "b"`,
		`{"a":{"command":["x"],"after":["a"]}}`:           "a.after: the roles wait for each other: a after a",
		`{"a":{"command":["x"],"ends":"with a"}}`:         "a.ends: no role ends these roles: a with a",
		`{"a":{"command":["x"],"ends":"with b"}}`:         `a.ends: there is no role "b"`,
		`{"a":{"command":["x"],"ends":"soon"}}`:           "a.ends: \"soon\" is neither",
		`{"a":{"command":["x"],"ends":"when told"}}`:      "none ends by itself",
		`{"a":{"command":["x"],"ready":{}}}`:              "a.ready: it has none of",
		`{"a":{"command":["x"],"ready":{"within":"1s"}}}`: "a.ready: it has none of",
		`{"a":{"command":["x"],"ready":{"log":"("}}}`:     "a.ready.log:",

		`{"a":{"command":["x"],"ready":{"contains":"y","file":"z"}}}`: "a.ready.contains:",
		`{"a":{"command":["x"],"ready":{"file":"z","within":"0s"}}}`:  "a.ready.within:",
		`{"a":{"command":["x"],"after":"b"},"b":{"command":["x"],"after":"c"},` +
			`"c":{"command":["x"],"after":"b"}}`: "b.after: the roles wait for each other: b after c after b",

		`{"a":{"command":["x"],"place":{"cpus":"1"}}}`:          "a.place.cpus: there is no such key",
		`{"a":{"command":["x"],"place":{"nics_per_rank":"0"}}}`: "a.place.nics_per_rank: \"0\" is not a whole",
		`{"a":{"command":["x"],"place":{"numa":"local"}}}`:      "a.place.numa: \"local\" is not the number of a NUMA node",
	} {
		if _, err := canonicalRoles(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestInvalidParse(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":"fio"}`:                              "it has no role",
		`{"of":"a"}`:                                    "add format",
		`{"of":"a","format":"fi"}`:                      "format: there is no format",
		`{"of":"a","format":"lines"}`:                   "belong together",
		`{"of":"a","format":"json"}`:                    "belong together",
		`{"of":"a","format":"fio","lines":"(?<x>.)"}`:   "belong together",
		`{"of":"a","lines":"x"}`:                        "lines: no metric is given: put its number into a group of its name, as (?<NAME>…)",
		`{"of":"a","lines":"^bw=(.*)"}`:                 "lines: no metric is given: name the group of its number after it, as (?<bw>…)",
		`{"of":"a","lines":"([0-9]+) GB/s"}`:            "as (?<NAME>…)",
		`{"of":"a","format":"iperf3","rows":"size"}`:    "rows: an output of iperf3 has one row with all metrics: leave rows out",
		`{"of":"a","paths":{"x":"[["}}`:                 "paths: path of x",
		`{"of":"a","format":"aiperf"}`:                  "say which by file",
		`{"of":"a","format":"nixlbench","rows":"size"}`: "rows: rows of nixlbench are distinguished by block_size, batch, not by \"size\"",
		`{"of":"a","lines":"(?<x>.)","rows":"y"}`:       "lines: the expression has no group \"y\"",
	} {
		if _, err := canonicalParse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	const paths = `{"of":"any","format":"json","file":"${launch.scratch}/x","paths":{"a":"b[0]","c":"d"}}`
	if got, err := canonicalParse(
		`{"paths":{"c":"d","a":"b[0]"},"file":"${launch.scratch}/x","of":"any"}`); err != nil || got != paths {
		t.Errorf("%s, %v", got, err)
	}
}

func TestInvalidCombinations(t *testing.T) {
	const roles = `{"a":{"command":["x"]}}`
	for want, raw := range map[string]map[string]any{
		`parse.of: there is no role "b"; there are a`: {"roles": roles, "parse": `{"of":"b","format":"iperf3"}`},

		"no role has ${port.x}":         {"roles": roles, "parse": `{"of":"a","format":"iperf3","file":"${port.x}"}`},
		"role a uses etcd, which needs": {"roles": `{"a":{"command":["x","${etcd.url}"]}}`},

		"role a uses service s, which the run lacks": {"roles": `{"a":{"command":["x","${service.s.url}"]}}`},
		"but the service has no url": {
			"roles": `{"a":{"command":["x","${service.s.url}"]}}`, "services": `{"s":{"command":["x"]}}`,
		},
	} {
		if err := Kind.Check(values(t, raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", raw, err)
		}
	}
}

// The path of a readiness check is below the url of its service.
func TestReadinessPaths(t *testing.T) {
	all, err := ReadServices(`{"s":{"command":["x"],"url":"http://127.0.0.1:${port.a}/","ready":{"http":"/v1/models"}}}`)
	if err != nil || all[0].Ready.HTTP != "http://127.0.0.1:${port.a}/v1/models" {
		t.Errorf("%+v, %v", all, err)
	}
	_, err = ReadServices(`{"s":{"command":["x"],"ready":{"http":"/v1/models"}}}`)
	if err == nil || !strings.Contains(err.Error(), `"/v1/models" is a path below its url, which it lacks`) {
		t.Error(err)
	}
	_, err = readRoles(`{"a":{"command":["x"],"ready":{"http":"/up"}}}`)
	if err == nil || !strings.Contains(err.Error(), `"/up" is a path, but a role has no url`) {
		t.Error(err)
	}
}

// The rank that listens on a port allocates it; a port without a listener is allocated by the first rank that mentions
// it.
func TestPortsAreAllocatedByOneRank(t *testing.T) {
	s, err := decode(values(t, map[string]any{"roles": `{
		"client":{"command":["c","${port.a}","${port.b}"],"after":"server"},
		"server":{"command":["s","${port.a}"],"ready":{"listens":"${port.a}"}}}`}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.PortsOf(0), " ") + "|" + strings.Join(s.PortsOf(1), " "); got != "b|a" {
		t.Error(got)
	}
}

// measured reduces the outputs of two roles.
func measured(t *testing.T, parse, first, second string) (map[string]float64, map[string]float64, error) {
	t.Helper()
	raw := map[string]any{"roles": `{"a":{"command":["x"]},"b":{"command":["y"],"ends":"with a"}}`, "parse": parse}
	s, err := decode(values(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	m := &workload.Measured{Spec: s, Parts: []*workload.Part{
		{Facts: []byte(`{"seconds":2}`), Samples: []byte(first)}, {
			Rank: 1, Facts: []byte(`{"seconds":3}`), Samples: []byte(second),
		},
	}}
	values, err := behaviour{}.Reduce(m, &results.Launch{})
	var files [][]byte
	for i, p := range m.Parts {
		if s.Parsed(i) {
			files = append(files, p.Samples)
		}
	}
	again, wrong := behaviour{}.Recompute(raw, files)
	if (wrong == nil) != (err == nil) {
		t.Errorf("computed again: %v, and at first %v", wrong, err)
	}
	return values, again, err
}

func TestOutputsBecomeMetrics(t *testing.T) {
	const lines = `,"lines":"^bw=(?<bw>[0-9.]+)$$"}`
	for _, parse := range []string{`{"of":"a"` + lines, `{"of":"any"` + lines} {
		values, again, err := measured(t, parse, "hello\nbw=1.5\n", "nothing\n")
		if err != nil || values["bw"] != 1.5 || values[elapsed] != 2 || again["bw"] != 1.5 || len(again) != 1 {
			t.Errorf("%s: %v, again %v, %v", parse, values, again, err)
		}
	}
	for want, c := range map[string][3]string{
		"role a: reading its output as lines: no result found: no line matches": {`{"of":"a"` + lines, "one\ntwo\n",
			"bw=1\n"},
		"stdout ends with:\none\ntwo":                   {`{"of":"a"` + lines, "one\ntwo\n", ""},
		"roles a and b both have a result":              {`{"of":"any"` + lines, "bw=1\n", "bw=2\n"},
		"line 2: a second result, after that of line 1": {`{"of":"a"` + lines, "bw=1\nbw=2\n", ""},
		"the output ends in the middle of a line":       {`{"of":"a"` + lines, "bw=1\nbw=2", ""},
		"no y: no line of the result":                   {`{"of":"a","lines":"^x=(?<x>.)( y=(?<y>.))?"}`, "x=1\n", ""},
	} {
		if _, _, err := measured(t, c[0], c[1], c[2]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// A case is the row of its value, however the tool formats the value.
func TestRowsAreCases(t *testing.T) {
	const output = "size=4096 bw=1\nsize=65536 bw=2\nsize=x bw=3\n"
	for row, want := range map[string]string{
		"4KiB": "1", "64KiB": "2", "65536": "2", "x": "3",
		"":     "its output has 3 rows, but the run has one case: make each row a case by sweep: {size: [4096, 65536, x]}",
		"1MiB": "no row of size 1MiB; it has 4096, 65536, x",
	} {
		raw := map[string]any{
			"roles": `{"a":{"command":["x"]}}`, "parse": `{"of":"a","lines":"^size=(?<size>.*) bw=(?<bw>.*)$$","rows":"size"}`,
			"row": row,
		}
		got, err := behaviour{}.Recompute(raw, [][]byte{[]byte(output)})
		if text := fmt.Sprint(got["bw"]); text != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v", row, text, err)
		}
	}
	if err := Kind.Check(values(t, map[string]any{"roles": `{"a":{"command":["x"]}}`, "row": "1"})); err == nil {
		t.Error("a row of nothing")
	}
}

func TestMetricsOfARun(t *testing.T) {
	own := []workload.Metric{{Name: "bw", Unit: "GB/s", Better: workload.Higher}}
	for parse, c := range map[string]struct {
		declared []workload.Metric
		names    string
		wrong    string
	}{
		`{}`:                             {nil, "elapsed", ""},
		`{"of":"a","format":"fabtests"}`: {nil, "elapsed bandwidth message_rate latency.avg time_per_transfer", ""},
		`{"of":"a","lines":"(?<bw>.)"}`:  {own, "elapsed bw", ""},
		`{"of":"a","lines":"(?<n>.)(?<bw>.)","rows":"n"}`: {own, "elapsed bw", ""},
		`{"of":"a","lines":"(?<bw>.)(?<x>.)"}`:            {own, "elapsed x bw", `parse finds "x"`},
		`{"of":"a","paths":{"x":"y"}}`:                    {nil, "elapsed x", `parse finds "x"`},
		`{"of":"a","format":"lines","lines":"(?<bws>.)"}`: {own, "elapsed bws bw", `metrics declares "bw"`},
	} {
		got, err := measures(option.Values{"parse": parse}, c.declared)
		var names []string
		for _, m := range got {
			names = append(names, m.Name)
		}
		if strings.Join(names, " ") != c.names || (err == nil) != (c.wrong == "") ||
			err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, %v", parse, names, err)
		}
	}
}

// Services start after those that they depend on.
func TestServicesInOrder(t *testing.T) {
	services, err := ReadServices(`{
		"a":{"command":["x","${service.c.url}"]},
		"b":{"command":["x"],"env":{"E":"${service.a.port.p}"}},
		"c":{"command":["x"],"after":"d","url":"http://${service.c.address}:${port.p}"},
		"d":{"command":["x"],"fresh":"launch","stop":{"signal":"int","within":"1s"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range services {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "d c a b" {
		t.Error(got)
	}
	if d := services[0]; d.Fresh != workload.FreshLaunch || d.Stop.Signal != "SIGINT" || d.Stop.Within != time.Second ||
		d.Ready.Within != serviceReadyWithin {
		t.Errorf("%+v", d)
	}
	text, err := canonicalServices(`{"a":{"command":["x"],"fresh":"session","stop":{"signal":"TERM"},"ready":{"file":"f","within":"10m"}}}`)
	if err != nil || text != `{"a":{"command":["x"],"ready":{"file":"f"}}}` {
		t.Errorf("%s, %v", text, err)
	}
	spec, err := decode(values(t, map[string]any{
		"roles": `{"r":{"command":["x"]}}`, "services": `{"a":{"command":["x","${service.b.address}"],"ready":{"etcd":"k"}},"b":{"command":["y"]}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if all := spec.Demand().Services; len(all) != 2 || all[0].Name != "b" ||
		!slices.Equal(all[1].Needs, []string{"b"}) || !all[1].Etcd || all[0].Etcd {
		t.Errorf("%+v", all)
	}
}

// TestLastLinesOfBothStreams checks that last lines come from both streams, even if one has many.
func TestLastLinesOfBothStreams(t *testing.T) {
	lines := func(name string, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("%s %d\n", name, i)
		}
		return text
	}
	for _, c := range [][4]int{
		{0, 0, 0, 0}, {1, 30, 1, 9}, {30, 30, 5, 5}, {30, 0, 10, 0}, {3, 4, 3, 4}, {0, 12, 0, 10}, {8, 3, 7, 3},
	} {
		last := TakeLastLines([]byte(lines("out", c[0])), []byte(lines("err", c[1])))
		if len(last.Stdout) != c[2] || len(last.Stderr) != c[3] {
			t.Errorf("of %d and %d lines: %d and %d", c[0], c[1], len(last.Stdout), len(last.Stderr))
		}
	}
	last := TakeLastLines([]byte("a\r\n"+strings.Repeat("é", 1000)+"\n\n"), []byte("\n"))
	if want := "\nstdout ends with:\na\n" + strings.Repeat("é", 150) + "…"; last.String() != want {
		t.Errorf("%q", last)
	}
}

// TestMissingProof checks that the error has the end of the log.
func TestMissingProof(t *testing.T) {
	o := workload.Observation{Tail: []string{"one", "two"}, Unproven: "there is no file /a"}
	both := Proof{Log: "^B", File: "/a"}
	for _, c := range []struct {
		ever bool
		want string
	}{
		{false, "no line of its log matches its proof \"^B\"\nits log ends with:\none\ntwo"},
		{true, "its proof: there is no file /a\nits log ends with:\none\ntwo"},
	} {
		if err := both.check(logwatch.Match{Ever: c.ever}, o); err == nil || err.Error() != c.want {
			t.Errorf("%v", err)
		}
	}
	if err := both.check(logwatch.Match{Ever: true}, workload.Observation{}); err != nil {
		t.Error(err)
	}
}

// An output with several results of a case says in what they differ.
func TestSeveralResultsOfACase(t *testing.T) {
	table := []byte("# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n4  4.25\n8  8.5\n" +
		"# Datatype: MPI_INT.\n# Size      Bandwidth (MB/s)\n8  9.5\n")
	p := &Parse{Of: "a", Format: "osu", Rows: "block_size"}
	_, err := p.values(table, "8B")
	if want := "2 results, the second on line 8 of type MPI_INT instead of MPI_CHAR: a case has one"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if got, err := p.values(table, "4"); err != nil || got["bandwidth"] != 0.00425 {
		t.Errorf("%v, %v", got, err)
	}
}
