package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/test/lab/mutate"
)

// orders has one order of each kind.
func orders(command ...string) map[string]Order {
	return map[string]Order{
		"setup": {Setup: &Setup{
			Fabrics: []string{"tcp"}, CPUs: []int{1, 3}, Labels: map[string]string{"rail": "3"},
			Shell: map[string]string{"UCX_TLS": "tcp"}, Secrets: []string{"env:TOKEN"},
		}},
		"launch": {
			Task: "l-0", Do: &Task{Launch: &LaunchTask{Packed: []byte("packed"), Ranks: []int{0, 2}, LogDir: "g"}},
		},
		"check":    {Task: "c", Do: &Task{Check: &CheckTask{Name: "c", Command: command}}},
		"command":  {Task: "c", Do: &Task{Command: &CommandTask{Name: "c", Command: command, Log: "c.log"}}},
		"artifact": {Task: "a", Do: &Task{Artifact: &ArtifactTask{Command: command}}},
		"clock":    {Task: "clock", Do: &Task{Clock: true}},
		"withdraw": {Task: "l-0", Withdraw: true},
		"abort":    {Task: "l-0", Abort: "node b is gone"},
		"peers":    {Task: "l-0", Peers: wire.AppendPeer(nil, []byte("address"))},
		"no peers": {Task: "l-0", Peers: []byte{}},
		"go":       {Task: "l-0", Go: true},
	}
}

func TestOrdersTravel(t *testing.T) {
	for name, want := range orders("true") {
		head, body, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeOrder(head, body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOrdersThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                               "unexpected end",
		`{"task": "t"}`:                   "has 0 parts",
		`{"go": true}`:                    "is no valid task name",
		`{"task": "a\u0007", "go": true}`: "is no valid task name",
		`{"task": "t", "go": true, "withdraw": true}`:                     "has 2 parts",
		`{"setup": {}, "task": "t", "go": true}`:                          "has 2 parts",
		`{"task": "` + strings.Repeat("x", 600) + `", "go": true}`:        "is no valid task name",
		`{"setup": {"fabrics": [` + strings.Repeat(`"x",`, 64) + `"x"]}}`: "names 65 fabrics",
	} {
		head, err := compress([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if o, err := DecodeOrder(head, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s is read as %+v, %v; want %q", text, o, err, want)
		}
	}
	head, err := compress([]byte(`{"task": "t", "go": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeOrder(head, []byte("x")); err == nil || !strings.Contains(err.Error(), "unexpected body") {
		t.Errorf("%v", err)
	}
	if _, err := DecodeOrder([]byte("nonsense"), nil); err == nil {
		t.Error("nonsense is read")
	}
}

// An agent without commands runs none and writes nothing, whatever a coordinator sends. WEIR_HOSTILE is the number
// of orders that it sends.
func TestHostileOrdersRunNoCommand(t *testing.T) {
	logs, scratch := t.TempDir(), t.TempDir()
	mark := filepath.Join(t.TempDir(), "mark")
	a := New(Options{
		Node: "n1", Session: "s", RefuseCommands: true, RankCommand: []string{"touch", mark}, LogDir: logs,
		ScratchDir: scratch, Sink: func(Report) {},
	})
	var heads [][]byte
	for _, o := range orders("touch", mark) {
		head, _, err := o.Encode()
		if err != nil {
			t.Fatal(err)
		}
		text, err := decompress(head, maxOrder)
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, text)
	}
	all := 20_000
	if text := os.Getenv("WEIR_HOSTILE"); text != "" {
		var err error
		if all, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	g, taken := mutate.New(7, heads...), 0
	for i := range all {
		head, err := compress(g.Next())
		if err != nil {
			t.Fatal(err)
		}
		o, err := DecodeOrder(head, nil)
		if err != nil {
			continue
		}
		taken++
		if o.Do != nil {
			o.Task = fmt.Sprint(o.Task, i) // one that is not under way
		}
		a.Take(o)
	}
	if taken < 100 {
		t.Errorf("%d orders were taken, which shows nothing", taken)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{logs, scratch, filepath.Dir(mark)} {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("in %s: %v %v", dir, files, err)
		}
	}
}

// Any text of a session is accepted within limits or refused.
func FuzzDecodeOrder(f *testing.F) {
	for _, o := range orders("true") {
		text, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte("body"), uint16(0xffff))
	}
	for _, task := range []string{
		`{"command":{"command":["true"],"log":"../../victim"}}`, `{"command":{"command":["true"],"log":"/etc/passwd"}}`,
		`{"launch":{"ranks":[0],"log_dir":"a/../../b"}}`,
		`{"check":{"command":["true"]},"command":{"log":"a//b"},"launch":{"log_dir":"/"}}`,
	} {
		f.Add([]byte(`{"task":"t","do":`+task+`}`), []byte(nil), uint16(0xffff))
	}
	f.Fuzz(func(t *testing.T, text, body []byte, cut uint16) {
		head, err := compress(text)
		if err != nil {
			t.Fatal(err)
		}
		o, err := DecodeOrder(head[:min(int(cut), len(head))], body)
		if err != nil {
			return
		}
		if _, _, err := o.Encode(); err != nil {
			t.Errorf("what is read cannot be written: %v", err)
		}
		if o.Do == nil || o.Do.check() != nil {
			return
		}
		if c := o.Do.Command; c != nil && (!filepath.IsLocal(c.Log) || filepath.Clean(c.Log) != c.Log) {
			t.Errorf("a log %q", c.Log)
		}
		if l := o.Do.Launch; l != nil {
			if l.LogDir != "" && (!filepath.IsLocal(l.LogDir) || filepath.Clean(l.LogDir) != l.LogDir) {
				t.Errorf("a directory for logs %q", l.LogDir)
			}
			_, _ = unpack(*l)
		}
	})
}
