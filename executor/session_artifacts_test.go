package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
)

func artifact(name, at string, argv ...string) planner.Artifact {
	return planner.Artifact{Name: name, On: "every node", Command: argv, At: at, Timeout: 20}
}

func fileArtifact(name, pattern string) planner.Artifact {
	return planner.Artifact{Name: name, On: "every node", File: pattern, At: "end", Timeout: 20}
}

// artifactsOf are the artifacts of a node with a name.
func artifactsOf(d *results.Document, node, name string) []results.Artifact {
	return slices.DeleteFunc(slices.Clone(d.Artifacts),
		func(a results.Artifact) bool { return a.Node != node || a.Name != name })
}

// holdsArtifacts checks every file that a document lists, and that there is no other.
func (b *bench) holdsArtifacts(d *results.Document) {
	b.t.Helper()
	listed := map[string]bool{}
	for _, a := range d.Artifacts {
		if a.File == "" {
			continue
		}
		listed[a.File] = true
		content, err := os.ReadFile(filepath.Join(b.dir, "session", a.File))
		sum := sha256.Sum256(content)
		if err != nil || int64(len(content)) != a.Bytes || hex.EncodeToString(sum[:]) != a.SHA256 {
			b.t.Errorf("%+v is not what lies there: %d bytes (%v)", a, len(content), err)
		}
	}
	root := filepath.Join(b.dir, "session")
	err := filepath.WalkDir(filepath.Join(root, "artifacts"), func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err == nil && !e.IsDir() && !listed[name] {
			b.t.Errorf("%s is listed nowhere", name)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}

func TestArtifactsAreKeptOfEveryNode(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	logs := t.TempDir()
	for name, text := range map[string]string{"a/x.log": "one", "b/x.log": "two", "b/y.txt": "no"} {
		if err := os.MkdirAll(filepath.Join(logs, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := onePlan(aCase("c"))
	first := artifact("first", "end", "sh", "-c", "echo out; echo err >&2")
	first.On = "first node"
	p.Setup = []planner.Command{
		{Name: "set up", On: "first node", Command: []string{"touch", filepath.Join(logs, "made.txt")}, Timeout: 20},
	}
	p.Teardown = []planner.Command{
		{Name: "tidy", On: "first node", Command: []string{"rm", filepath.Join(logs, "made.txt")}, Timeout: 20},
	}
	p.Artifacts = []planner.Artifact{
		first, artifact("before", "start", "ls", logs), artifact("after", "end", "ls", logs),
		fileArtifact("logs", logs+"/*/x.log"), fileArtifact("made.txt", logs+"/made.txt"),
		fileArtifact("none", logs+"/none"), fileArtifact("status", "/proc/self/status"),
		artifact("fails", "end", "sh", "-c", "echo half; exit 3"), artifact("absent", "end", "no-such-program"),
		fileArtifact("pipe", "/dev/zero"),
	}
	doc := b.run(p, func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	b.holdsArtifacts(doc)
	if doc.Case("c").Status != results.OK || doc.Session.Reason != "" {
		t.Errorf("%+v", doc.Session)
	}
	read := func(file string) string {
		content, err := os.ReadFile(filepath.Join(b.dir, "session", "artifacts", file))
		if err != nil {
			t.Error(err)
		}
		return string(content)
	}
	for file, want := range map[string]string{
		// before teardown, and not before setup
		"n1/first": "out\nerr\n", "n2/before": "a\nb\n", "n2/after": "a\nb\nmade.txt\n",
		"n1/logs/x.log": "one", "n1/logs/x.log~2": "two", "n2/made.txt": "", "n2/fails": "half\n",
	} {
		if got := read(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if got := read("n1/status"); !strings.Contains(got, "VmRSS") {
		t.Errorf("/proc/self/status is %q", got)
	}
	if got := artifactsOf(doc, "n2", "first"); len(got) != 0 {
		t.Errorf("the second node was asked too: %+v", got)
	}
	for name, want := range map[string][2]string{
		"none": {results.ArtifactMissing, "no such file"}, "fails": {results.ArtifactFailed, "exit status 3: half"},
		"absent": {results.ArtifactMissing, "program no-such-program not found"},
		"pipe":   {results.ArtifactMissing, "no regular file"},
	} {
		got := artifactsOf(doc, "n1", name)
		if len(got) != 1 || got[0].Status != want[0] || !strings.Contains(got[0].Reason, want[1]) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := b.count(event.ArtifactKept, ""); got != len(doc.Artifacts) {
		t.Errorf("%d events of %d artifacts", got, len(doc.Artifacts))
	}
}

func TestLongArtifactsAreTruncatedAndSecretsRedacted(t *testing.T) {
	b := newBench(t)
	t.Setenv("A_SECRET", "correct-horse")
	const limit = 16 << 20
	p := onePlan(aCase("c", func(c *planner.Case) { c.Secrets = map[string]string{"X": "A_SECRET"} }))
	p.Artifacts = []planner.Artifact{
		artifact("shown", "end", "sh", "-c", "echo before $A_SECRET after"),
		// the secret begins before the end of what is kept, and ends behind it
		artifact("long", "end", "sh", "-c", `head -c 16777210 /dev/zero; printf %s "$A_SECRET"; head -c 100 /dev/zero`),
	}
	doc := b.run(p)
	b.holdsArtifacts(doc)
	node := doc.Environment.Nodes[0].Name
	shown, long := artifactsOf(doc, node, "shown")[0], artifactsOf(doc, node, "long")[0]
	content, err := os.ReadFile(filepath.Join(b.dir, "session", shown.File))
	if err != nil || string(content) != "before *** after\n" {
		t.Errorf("%q (%v)", content, err)
	}
	content, err = os.ReadFile(filepath.Join(b.dir, "session", long.File))
	if err != nil || long.Status != results.ArtifactTruncated || long.Bytes > limit || long.Bytes < limit-20 ||
		strings.Contains(string(content), "corr") {
		t.Errorf("%+v ends in %q (%v)", long, content[max(0, len(content)-20):], err)
	}
	// a machine that is too busy to read all in time says that instead
	if !strings.Contains(long.Reason, "of 16777323 bytes were kept") && !strings.Contains(long.Reason, "still open") {
		t.Errorf("the reason is %q", long.Reason)
	}
}

// Artifacts are collected however the session ends: by a check, a launch that crashes, an interrupt; and a command
// that does not end is ended by its timeout.
func TestArtifactsAreKeptWhateverEndsTheSession(t *testing.T) {
	kept := func(t *testing.T, b *bench, doc *results.Document) {
		t.Helper()
		b.holdsArtifacts(doc)
		for _, name := range []string{"early", "late"} {
			if got := artifactsOf(doc, "n1", name); len(got) != 1 || got[0].Status != results.OK {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	with := func(p *planner.Plan) *planner.Plan {
		p.Artifacts = []planner.Artifact{
			artifact("early", "start", "echo", "early"), artifact("late", "end", "echo", "late"),
		}
		return p
	}
	node := func(o *Options) { o.Nodes = []string{"n1"} }
	t.Run("a check that fails", func(t *testing.T) {
		b := newBench(t)
		p := with(onePlan(aCase("c")))
		p.Checks = []planner.Check{{Name: "no", Command: []string{"false"}}}
		kept(t, b, b.run(p, node))
	})
	t.Run("a command that does not end", func(t *testing.T) {
		b := newBench(t)
		p := with(onePlan(aCase("c")))
		p.Artifacts = append(p.Artifacts, artifact("hangs", "end", "sleep", "600"))
		p.Artifacts[2].Timeout = 0.2
		doc := b.run(p, node)
		kept(t, b, doc)
		if got := artifactsOf(doc, "n1", "hangs")[0]; got.Status != results.ArtifactMissing ||
			!strings.Contains(got.Reason, "200ms") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("an interrupt, and the session that goes on", func(t *testing.T) {
		b := newBench(t)
		c := aCase("c")
		p := with(aPlan([]*planner.Case{c}, aGroup("c", []*planner.Case{c}, 3)))
		ctx, cancel := context.WithCancelCause(t.Context())
		o := b.options()
		node(&o)
		o.Events = func(e event.Event) {
			b.events = append(b.events, e)
			if b.count(event.CaseMeasured, "c") == 1 {
				cancel(signalled{})
			}
		}
		doc, err := Run(ctx, p, o)
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		kept(t, b, doc)
		p.Artifacts[1].Command = []string{"echo", "later"}
		doc = b.run(p, node, func(o *Options) { o.Resume = true })
		kept(t, b, doc)
		if got := artifactsOf(doc, "n1", "late")[0].Bytes; got != int64(len("later\n")) {
			t.Errorf("the file of the former session stands: %d bytes", got)
		}
	})
}

// A node that sends more of an artifact than its agent may is held to the same limits.
func TestAnArtifactIsBoundedByTheCoordinatorToo(t *testing.T) {
	var kept []results.Artifact
	next := agent.ArtifactReport{Content: []byte("x"), Status: results.OK}
	for range 3 * agent.MaxArtifactFiles {
		if overArtifactLimit(next, kept) == "" {
			kept = append(kept, results.Artifact{Bytes: 1})
		}
	}
	if len(kept) != agent.MaxArtifactFiles+1 { // the last of an agent says what it has left out
		t.Errorf("%d files are kept", len(kept))
	}
	large := []results.Artifact{{Bytes: agent.MaxArtifactTotal}}
	if overArtifactLimit(next, large) == "" {
		t.Error("there is no end to the bytes")
	}
	if out, last := (&session{}).storeArtifact(planner.Artifact{}, "n1", next, large); !last ||
		out.Status != results.ArtifactMissing || !strings.Contains(out.Reason, "the node sends more than") {
		t.Errorf("%+v, and the last: %v", out, last)
	}
	if why := overArtifactLimit(agent.ArtifactReport{Status: results.ArtifactMissing}, large); why != "" {
		t.Errorf("an agent's own report of what it left out is refused: %s", why)
	}
}

// A node can report about its own ranks, not about those of another.
func TestAResultIsOfARankOfItsNode(t *testing.T) {
	l := &launchRun{s: &session{}, cases: []*planner.Case{aCase("a")},
		pending: []*pendingCase{{parts: make([]*workload.Part, 2)}}}
	l.engine.Ranks, l.engine.Nodes = 2, []string{"n1", "z4"}
	forged := &agent.Result{Part: &workload.Part{Key: "a", Rank: 0}}
	if err := l.addResult("z4", forged); err != nil {
		t.Fatal(err)
	}
	if l.pending[0].parts[0] != nil || l.pending[0].received != 0 {
		t.Error("z4's report about n1's rank is accepted")
	}
	if err := l.addResult("n1", forged); err != nil {
		t.Fatal(err)
	}
	if l.pending[0].parts[0] == nil {
		t.Error("n1's own is not")
	}
}
