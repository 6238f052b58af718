package agent

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/executor/cluster"
	"weir/executor/wire"
	"weir/matrix"
	"weir/test/phase"
	"weir/workload/move"
)

// dense is a launch of ranks that all send each other different amounts.
func dense(t testing.TB, ranks int) engine.Launch {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var cells []matrix.Cell
	for from := range ranks {
		for to := range ranks {
			if from != to {
				cells = append(cells, matrix.Cell{From: from, To: to, Bytes: 1 + r.Int64N(1<<40)})
			}
		}
	}
	m, err := matrix.New(ranks, cells)
	if err != nil {
		t.Fatal(err)
	}
	o := move.Spec{Pattern: move.MatrixPattern, Matrix: m, Ranks: int64(ranks), Fabric: "shm"}
	return engine.Launch{
		ID: "l-0", Ranks: ranks, Nodes: []string{"n1"},
		Cases: []engine.Case{caseOf("write", o, 0), caseOf("read", o, 0)},
	}
}

// caseOf is a case as a rank is told it.
func caseOf(key string, o move.Spec, timeout time.Duration) engine.Case {
	c, err := engine.NewCase(key, &o, timeout, nil)
	if err != nil {
		panic(err)
	}
	return c
}

// specOf is what a case moves.
func specOf(t *testing.T, c engine.Case) move.Spec {
	t.Helper()
	o, err := move.Read(c.Spec, c.Large)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func packed(t *testing.T, l engine.Launch) []byte {
	t.Helper()
	b, err := Pack(l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What 1024 ranks are told of a matrix of a million different cells is longer than
// etcd takes at a time, and comes whole all the way to a rank.
func TestTheLargestMatrixComesWhole(t *testing.T) {
	phase.Long(t)
	c, _ := joined(t, Options{})
	s := c.Session
	l := dense(t, 1024)
	text := packed(t, l)
	if len(text) < 5<<20 {
		t.Fatalf("%d bytes show nothing", len(text))
	}
	where := cluster.TextFor(text, 1)
	if err := s.Share(t.Context(), "l", where, text); err != nil {
		t.Fatal(err)
	}
	got, err := s.Shared(t.Context(), "l", where)
	if err != nil {
		t.Fatal(err)
	}
	all, err := unpack(LaunchTask{Ranks: []int{0, 1023}}, got)
	if err != nil {
		t.Fatal(err)
	}
	self := engine.Identity{Rank: 1023, CPUs: []int{5}}
	body, err := wire.EncodeSelf(self, nil, all.text)
	if err != nil {
		t.Fatal(err)
	}
	var pipe bytes.Buffer
	if err := wire.Write(&pipe, wire.KindLaunch, body...); err != nil {
		t.Fatal(err)
	}
	f, err := wire.Read(&pipe)
	if err != nil {
		t.Fatal(err)
	}
	told, err := wire.DecodeSelf(f.Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(self, told.Self); diff != "" {
		t.Error(diff)
	}
	want := specOf(t, l.Cases[0]).Matrix.Compact()
	for who, launch := range map[string]engine.Launch{"the agent": all.launch, "the rank": told.Launch} {
		for i, c := range launch.Cases {
			if c.Key != l.Cases[i].Key || specOf(t, c).Matrix.Compact() != want {
				t.Errorf("%s has another case %s", who, c.Key)
			}
		}
	}
}

// A launch that did not come whole is refused by name, at once and on all nodes, and
// nothing of it stays.
func TestALaunchThatIsNotWholeIsRefused(t *testing.T) {
	c, reports := joined(t, Options{})
	s := c.Session
	l := dense(t, 30)
	text := packed(t, l)
	// of so many readers that each must ask
	many := func(text []byte) cluster.Text { return cluster.TextFor(text, 1<<20) }
	short := bytes.Clone(text)
	short[len(short)-100] ^= 1
	for name, test := range map[string]struct {
		shared []byte
		text   cluster.Text
		want   string
	}{
		"missing":   {nil, many(text), "reading what is shared of missing: part 1 of 1: it is not in etcd"},
		"damaged":   {short, many(text), "reading what is shared of damaged: part 1 of 1: it is not what was written"},
		"bad words": {short, many(short), "unpacking a launch: "},

		"no ranks": {nil, cluster.TextFor(packed(t, engine.Launch{ID: "l-1", Cases: l.Cases}), 1),
			"launch l-1: rank 0 of 0"},
		"no cases": {nil, cluster.TextFor(packed(t, engine.Launch{ID: "l-2", Ranks: 1}), 1), "launch l-2 has no cases"},
	} {
		spec, err := Task{Launch: &LaunchTask{Text: test.text, Ranks: []int{0}}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if test.shared != nil {
			if err := s.Share(t.Context(), name, test.text, test.shared); err != nil {
				t.Fatal(err)
			}
		}
		meeting, err := s.Meet(t.Context(), name, "n2", []int{1}, 30) // of another node
		if err != nil {
			t.Fatal(err)
		}
		if err := c.place(name, spec); err != nil {
			t.Fatal(err)
		}
		var r Report
		select {
		case r = <-reports:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: the agent says nothing", name)
		}
		if r.Outcome == nil || r.Outcome.Failure == nil || r.Outcome.Told() ||
			!strings.Contains(r.Outcome.Failure.Cause, test.want) || r.Outcome.Failure.Node != "n1" {
			t.Fatalf("%s: %+v, want %q", name, r.Outcome, test.want)
		}
		for aborted := false; !aborted; {
			select {
			case <-meeting.Changed():
				_, aborted = meeting.Aborted()
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: the other nodes hear nothing", name)
			}
		}
		meeting.Close()
		if err := s.Forget(t.Context(), name, []string{"n1"}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Keys(t.Context(), "s"); err != nil || n != 1 {
			t.Errorf("%s left %d keys, %v", name, n-1, err)
		}
	}
}

func TestALaunchIsBoundedUnpacked(t *testing.T) {
	phase.NotUnderRace(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(bytes.Repeat([]byte(" "), wire.MaxLaunch+1)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := unpack(LaunchTask{}, bomb.Bytes())
	if err == nil || !strings.Contains(err.Error(), "it has more than 67108864 bytes without compression") {
		t.Errorf("%d bytes: %v", bomb.Len(), err)
	}
	if _, err := unpack(LaunchTask{}, bomb.Bytes()[:bomb.Len()/2]); err == nil ||
		!strings.Contains(err.Error(), "cut short") {
		t.Errorf("%v", err)
	}
}

func TestASweepIsShort(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	l := engine.Launch{Ranks: 2}
	for i := range 5000 { // as large as they come
		l.Cases = append(l.Cases, caseOf(fmt.Sprintf("c[x=%d]", i), move.Spec{Fabric: "shm", BlockSize: 4096}, 1))
	}
	b := packed(t, l)
	if len(b) > 1<<20 {
		t.Errorf("%d bytes are more than one part", len(b))
	}
	got, err := unpack(LaunchTask{Ranks: []int{0, 1}}, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l, got.launch); diff != "" {
		t.Error(diff)
	}
}

func TestTasksThatMakeNoSense(t *testing.T) {
	for name, task := range map[string]Task{
		"nothing":  {},
		"no ranks": {Launch: &LaunchTask{Text: cluster.TextFor([]byte("x"), 1)}},
		"no argv":  {Check: &CheckTask{Name: "c"}},
	} {
		b, err := task.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeTask(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := decodeTask([]byte("nonsense")); err == nil {
		t.Error("nonsense: accepted")
	}
}

// BenchmarkPack is what telling a launch of 1024 ranks costs the coordinator, and
// reading it an agent.
func BenchmarkPack(b *testing.B) {
	l := dense(b, 1024)
	var text []byte
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			var err error
			if text, err = Pack(l); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(text))/(1<<20), "MiB")
	})
	b.Run("unpack", func(b *testing.B) {
		for b.Loop() {
			if _, err := unpack(LaunchTask{Ranks: []int{0}}, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
