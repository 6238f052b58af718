package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weir/executor/cluster"
	"weir/executor/lab/garble"
	"weir/executor/trust"
	"weir/test/phase"
)

// hostileEnv is how many messages each test of hostile ones makes in all.
const hostileEnv = "WEIR_HOSTILE"

// lessUnderRace is a part of a number under the race detector, which makes each some ten times as long.
func lessUnderRace(n int) int {
	if phase.Race {
		return n / 6
	}
	return n
}

func howMany(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv(hostileEnv)
	if text == "" {
		return lessUnderRace(otherwise)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// genuine are tasks as sessions place them, none of which is anything to node n1 of
// session s: numbers below 100 were placed there before.
func genuine(t testing.TB, key *trust.Signer, mark string) (all [][]byte) {
	t.Helper()
	stranger, err := trust.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	touch := []string{"touch", mark}
	for i, task := range []Task{
		{Check: &CheckTask{Name: "touch", Command: touch}},
		{Command: &CommandTask{Name: "touch", Command: touch, Log: "c.log"}},
		{Artifact: &ArtifactTask{Command: touch}},
		{Secrets: &SecretsTask{Names: []string{"env:HOME"}}},
		{Launch: &LaunchTask{Text: cluster.Text{Inline: []byte("launch")}, Ranks: []int{0, 1}, LogDir: "g"}},
	} {
		spec, err := task.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, spec)
		for _, by := range []struct {
			key    *trust.Signer
			about  trust.Subject
			number uint64
		}{
			{key, trust.Subject{Session: "s", Node: "n1", Name: "task"}, uint64(i)},
			{key, trust.Subject{Session: "s", Node: "n1", Name: "another"}, 900},
			{key, trust.Subject{Session: "s", Node: "n2", Name: "task"}, 901},
			{key, trust.Subject{Session: "r", Node: "n1", Name: "task"}, 902},
			{stranger, trust.Subject{Session: "s", Node: "n1", Name: "task"}, 903},
		} {
			all = append(all, Seal(by.key, by.about, by.number, spec))
		}
	}
	return all
}

// refused says whether a report is of a task of which nothing was done.
func refused(r Report) bool {
	if r.Outcome == nil || r.Outcome.Failure == nil || r.Check != nil || r.Command != nil || r.Artifact != nil ||
		r.Secrets != nil || r.Running != nil {
		return false
	}
	cause := r.Outcome.Failure.Cause
	return strings.Contains(cause, "checking a signature") || strings.Contains(cause, "it was placed before")
}

// Whatever is written where tasks are placed, an agent runs nothing of it: no process is
// started, no file written, etcd not asked. All of it is refused for its signature or
// because it is not new. WEIR_HOSTILE says how many messages there are.
func TestHostilePlacementsRunNothing(t *testing.T) {
	key, err := trust.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := trust.NewVerifier(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	logs, scratch := t.TempDir(), t.TempDir()
	mark := filepath.Join(t.TempDir(), "mark")
	var heard, taken atomic.Int64
	a := New(Options{
		Node: "n1", Session: "s", RankCommand: []string{"touch", mark}, ProbeCommand: []string{"touch", mark},
		LogDir: logs, ScratchDir: scratch, Verifier: verifier,
		Sink: func(r Report) {
			heard.Add(1)
			if !refused(r) && taken.Add(1) < 10 {
				t.Errorf("%+v %+v", r, r.Outcome)
			}
		},
	}) // it has no session: asking etcd would be a crash
	for number := range uint64(100) {
		a.seen[number] = true
	}
	all, workers := howMany(t, 6_000), 4
	messages := genuine(t, key, mark)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			g := garble.New(uint64(w), messages...)
			for range all / workers {
				task, err := a.open(cluster.Placement{Task: "task", Spec: g.Next()})
				a.do(a.ctx, "task", task, err)
			}
		})
	}
	wg.Wait()
	if n := heard.Load(); n != int64(all/workers*workers) {
		t.Errorf("%d reports of %d messages", n, all)
	}
	if len(a.seen) != 100 {
		t.Errorf("%d numbers are remembered of strangers", len(a.seen)-100)
	}
	started := true
	a.spawner.begin.Do(func() { started = false })
	if started { // there was a thread to start processes from
		t.Error("a process was started")
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

// The same through an etcd: what comes is refused, and the session's own task is still done.
func TestHostileWritesToEtcdRunNothing(t *testing.T) {
	phase.Long(t)
	c, reports := joined(t, Options{})
	mark := filepath.Join(t.TempDir(), "mark")
	g := garble.New(7, genuine(t, c.Key, mark)...)
	for i := range lessUnderRace(3000) {
		task := fmt.Sprintf("hostile-%d", i) // so that not even the genuine ones fit
		text := g.Next()
		if len(text) > 1<<20 {
			continue // etcd takes none so long
		}
		if err := c.put(task, text); err != nil {
			t.Fatal(err)
		}
		if r := <-reports; !refused(r) || r.Task != task {
			t.Fatalf("%+v %+v", r, r.Outcome)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a command was run")
	}
	spec, err := Task{Check: &CheckTask{Name: "touch", Command: []string{"touch", mark}}}.Encode()
	if err == nil {
		err = c.place("own", spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := <-reports; r.Check == nil || r.Check.Status != "ok" {
		t.Errorf("the session's own task: %+v", r)
	}
}

// A session's own text may be anything too, and is taken within bounds or refused.
func FuzzDecodeTask(f *testing.F) {
	for _, task := range []string{
		`{"check":{"name":"n","command":["true"]}}`, `{"launch":{"text":{"inline":"YQ=="},"ranks":[0,-1],"env":null}}`,
		`{"launch":{"ranks":[]}}`, `{"artifact":{"file":"/x"}}`, `{}`, `[`,
		`{"command":{"command":["true"],"log":"../../victim"}}`, `{"command":{"command":["true"],"log":"/etc/passwd"}}`,
		`{"launch":{"ranks":[0],"log_dir":"a/../../b"}}`,
		`{"check":{"command":["true"]},"command":{"log":"a//b"},"launch":{"log_dir":"/"}}`,
	} {
		f.Add([]byte(task), uint16(0xffff))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		packed, err := compress(text)
		if err != nil {
			t.Fatal(err)
		}
		task, err := decodeTask(packed[:min(int(cut), len(packed))])
		if err != nil {
			return
		}
		if c := task.Command; c != nil && (!filepath.IsLocal(c.Log) || filepath.Clean(c.Log) != c.Log) {
			t.Errorf("a log %q", c.Log)
		}
		if l := task.Launch; l != nil && l.LogDir != "" &&
			(!filepath.IsLocal(l.LogDir) || filepath.Clean(l.LogDir) != l.LogDir) {
			t.Errorf("a directory for logs %q", l.LogDir)
		}
		if _, err := task.Encode(); err != nil {
			t.Errorf("what is read cannot be written: %v", err)
		}
		if l := task.Launch; l != nil && task.Check == nil && task.Command == nil && task.Secrets == nil &&
			task.Artifact == nil {
			_, _ = unpack(*l, packed)
		}
	})
}

// Nothing but what the session sealed for this node and this task is opened.
func FuzzOpenTask(f *testing.F) {
	key, err := trust.NewSigner()
	if err != nil {
		f.Fatal(err)
	}
	verifier, err := trust.NewVerifier(key.Public())
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range genuine(f, key, "/nowhere") {
		f.Add(m, "task")
	}
	a := New(Options{Node: "n1", Session: "s", Verifier: verifier})
	for number := range uint64(100) {
		a.seen[number] = true
	}
	f.Fuzz(func(t *testing.T, spec []byte, task string) {
		if task == "another" {
			return // that one is genuine
		}
		if got, err := a.open(cluster.Placement{Task: task, Spec: spec}); err == nil {
			t.Errorf("%+v", got)
		}
	})
}
