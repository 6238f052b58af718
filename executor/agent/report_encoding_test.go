package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// reports has one report of each kind, of node n1.
func reports() map[string]Report {
	at := time.Now().Add(-3 * time.Second)
	return map[string]Report{
		"joined": {Joined: &placement.Node{Host: "boot", CPUs: []int{0, 1}, Node: results.Node{Name: "n1"}}},

		"addresses": {Addresses: encodeAddresses(map[int][]byte{1: []byte("a"), 3: {}})},
		"connected": {Connected: true},
		"failing":   {Failing: "rank 1 died"},

		"running":  {Running: new(Moment(at))},
		"progress": {Progress: &Progress{Case: 2, Phase: "run", Done: 5, Total: 9, Rate: 1e9}},
		"result": {
			Result: &Result{
				Part: &workload.Part{Key: "b[x=1]", Rank: 1, Facts: json.RawMessage(`{"verified":true}`),
					Samples: []byte("samples")}, Rate: 2e9,
			},
		},
		"served": {Result: &Result{Part: &workload.Part{Key: "b[x=1]", Rank: 0}}},
		"outcome": {
			Outcome: &Outcome{
				At: Moment(at), Kind: causePeer, Failure: &results.Failure{Rank: 3, Node: "n1", Phase: "run",
					Kind: results.Crashed, Cause: "it died", Log: []string{"a", "b"}},
				Counters:        []results.Counter{{Node: "n1", Device: "eth0", Name: "rx_crc_errors"}},
				LowerTransports: map[int][]fabric.LowerTransport{3: {{}}},
			},
		},
		"good":    {Outcome: &Outcome{At: Moment(at)}},
		"check":   {Check: &results.Check{Name: "c", Node: "n1", Status: "ok"}},
		"command": {Command: &results.Command{Name: "c", Node: "n1", Status: "ok", Started: at.UTC().Round(0)}},
		"clock":   {Clock: &at},
		"secrets": {Secrets: &SecretsReport{Problems: []string{"none here"}}},
		"log":     {Log: &Log{Name: "b/0/1.log", From: 1 << 20, Text: []byte("text\n")}},
		"artifact": {
			Artifact: &ArtifactReport{
				Source: "/proc/version", Content: []byte("Linux"), Status: results.OK, Last: true,
			},
		},
		"observed": {Observation: &Observation{At: time.Unix(0, 7),
			Matches: []logwatch.Match{{Ever: true, Count: 2, Text: "a line"}},
			Tail:    []string{"b"}, Unproven: "no file", Page: []byte("a 1\n")}},
		"unseen": {Observation: &Observation{At: time.Unix(0, 7), Error: "no such file"}},
		"no log": {Log: &Log{Name: "b/0/1.log"}},
	}
}

func TestReportsTravel(t *testing.T) {
	for name, want := range reports() {
		want.Task, want.Node = "b-0", "n1"
		head, body, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeReport("n1", head, body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		opts := cmp.Options{
			cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(time.Second),
			cmp.Transformer("time", func(m Moment) time.Time { return time.Time(m) }),
		}
		if diff := cmp.Diff(want, got, opts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A node reports about itself only, and malformed reports are refused.
func TestReportsThatAreNotBelieved(t *testing.T) {
	head, _, err := Report{Check: &results.Check{Name: "c", Node: "other", Status: "ok"}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := DecodeReport("n1", head, nil); err != nil || r.Check.Node != "n1" {
		t.Errorf("it speaks for node %v, %v", r.Check, err)
	}
	for text, want := range map[string]string{
		`{`:             "unexpected end",
		`{"task": "t"}`: "has 0 parts",
		`{"secrets": {}, "check": {"name": "c"}}`:      "has 2 parts",
		`{"progress": {"Case": -1}}`:                   "progress in case -1",
		`{"result": {}}`:                               "without its case",
		`{"result": {"case": {"facts": ]}}}`:           "invalid character",
		`{"outcome": {"kind": 99}}`:                    "unknown kind 99",
		`{"outcome": {"kind": -1}}`:                    "unknown kind -1",
		`{"outcome": {"ago": -5}}`:                     "in the future",
		`{"running_ago": -5}`:                          "in the future",
		`{"log": {"name": "../../etc/passwd"}}`:        `log named "../../etc/passwd"`,
		`{"log": {"name": "/etc/passwd"}}`:             `log named "/etc/passwd"`,
		`{"log": {"name": "a/../b"}}`:                  `log named "a/../b"`,
		`{"log": {"name": ""}}`:                        `log named ""`,
		`{"log": {"name": "a", "from": 999999999999}}`: "bytes at offset",
		`{"log": {"name": "a", "from": -1}}`:           "bytes at offset",
	} {
		if r, err := DecodeReport("n1", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read as %+v, %v; want %q", text, r, err, want)
		}
	}
	if _, err := DecodeReport("n1", []byte(`{"secrets": {}}`), []byte("x")); err == nil ||
		!strings.Contains(err.Error(), "unexpected body") {
		t.Errorf("%v", err)
	}
}

func FuzzDecodeReport(f *testing.F) {
	for _, r := range reports() {
		head, body, err := r.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(head, body)
	}
	f.Fuzz(func(t *testing.T, head, body []byte) {
		r, err := DecodeReport("n1", head, body)
		if err != nil {
			return
		}
		if r.Node != "n1" {
			t.Errorf("a report of node %s", r.Node)
		}
		if _, _, err := r.Encode(); err != nil {
			t.Errorf("it was read and cannot be written: %v", err)
		}
	})
}
