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

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// dense is a launch of ranks with different amounts for each pair.
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

// caseOf is a case as ranks receive it.
func caseOf(key string, o move.Spec, timeout time.Duration) engine.Case {
	c, err := engine.NewCase(key, &o, timeout, nil)
	if err != nil {
		panic(err)
	}
	return c
}

// specOf is the specification of a case.
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

// A matrix of a million different cells for 1024 ranks takes megabytes, and arrives complete at a rank.
func TestTheLargestMatrixComesWhole(t *testing.T) {
	phase.Long(t)
	l := dense(t, 1024)
	text := packed(t, l)
	if len(text) < 5<<20 {
		t.Fatalf("%d bytes show nothing", len(text))
	}
	head, rest, err := Order{Task: "l", Do: &Task{Launch: &LaunchTask{Packed: text, Ranks: []int{0, 1023}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	order, err := DecodeOrder(head, rest)
	if err != nil {
		t.Fatal(err)
	}
	all, err := unpack(*order.Do.Launch)
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
	for side, launch := range map[string]engine.Launch{"the agent": all.launch, "the rank": told.Launch} {
		for i, c := range launch.Cases {
			if c.Key != l.Cases[i].Key || specOf(t, c).Matrix.Compact() != want {
				t.Errorf("%s has another case %s", side, c.Key)
			}
		}
	}
}

// A malformed launch is refused by name, and reported before the outcome, so that other nodes do not wait.
func TestALaunchThatIsNotWholeIsRefused(t *testing.T) {
	c, reports := joined(t, Options{})
	l := dense(t, 30)
	text := packed(t, l)
	for name, test := range map[string]struct {
		packed []byte
		want   string
	}{
		"missing":  {nil, "unpacking a launch: "},
		"cut":      {text[:len(text)/2], "unpacking a launch: it is cut short"},
		"no ranks": {packed(t, engine.Launch{ID: "l-1", Cases: l.Cases}), "launch l-1: rank 0 of 0"},
		"no cases": {packed(t, engine.Launch{ID: "l-2", Ranks: 1}), "launch l-2 has no cases"},
	} {
		c.place(name, Task{Launch: &LaunchTask{Packed: test.packed, Ranks: []int{0}}})
		if r := <-reports; !strings.Contains(r.Failing, test.want) {
			t.Errorf("%s: %+v, want %q first", name, r, test.want)
		}
		r := <-reports
		if r.Outcome == nil || r.Outcome.Failure == nil || r.Outcome.Cancelled() ||
			!strings.Contains(r.Outcome.Failure.Cause, test.want) || r.Outcome.Failure.Node != "n1" {
			t.Errorf("%s: %+v, want %q", name, r.Outcome, test.want)
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
	_, err := unpack(LaunchTask{Packed: bomb.Bytes()})
	if err == nil || !strings.Contains(err.Error(), "it has more than 67108864 bytes without compression") {
		t.Errorf("%d bytes: %v", bomb.Len(), err)
	}
	if _, err := unpack(LaunchTask{Packed: bomb.Bytes()[:bomb.Len()/2]}); err == nil ||
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
		t.Errorf("%d bytes", len(b))
	}
	got, err := unpack(LaunchTask{Ranks: []int{0, 1}, Packed: b})
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
		"no ranks": {Launch: &LaunchTask{Packed: []byte("x")}},
		"no argv":  {Check: &CheckTask{Name: "c"}},
	} {
		if err := task.check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// BenchmarkPack measures the encoding of a launch of 1024 ranks by the coordinator and the decoding by an agent.
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
			if _, err := unpack(LaunchTask{Ranks: []int{0}, Packed: text}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
