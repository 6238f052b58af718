package wire

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/traffic"
)

func generated(t *testing.T, generate string, ranks int64) move.Spec {
	t.Helper()
	o, err := traffic.Decode(option.Values{"generate": generate, "ranks": ranks})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func launchOf(options ...move.Spec) engine.Launch {
	l := engine.Launch{ID: "l-0", Ranks: 64}
	for i, o := range options {
		c, err := engine.NewCase(fmt.Sprintf("c[x=%d]", i), &o, 0, nil)
		if err != nil {
			panic(err)
		}
		l.Cases = append(l.Cases, c)
	}
	return l
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

func encoded(t *testing.T, l engine.Launch) []byte {
	t.Helper()
	text, err := EncodeLaunch(l)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// All cases of a launch share one matrix, which is encoded once and decoded for each.
func TestAMatrixTravelsOnce(t *testing.T) {
	o := generated(t, "uniform 1MiB", 64)
	l := launchOf(o, o, o)
	one, all := encoded(t, launchOf(o)), encoded(t, l)
	if len(all) > len(one)+2000 {
		t.Errorf("%d bytes of one case and %d of three", len(one), len(all))
	}
	if specOf(t, l.Cases[2]).Matrix == nil {
		t.Error("what was sent has lost its matrix")
	}
	back, err := DecodeLaunch(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range back.Cases {
		if m := specOf(t, c).Matrix; m == nil || m.Compact() != o.Matrix.Compact() {
			t.Errorf("case %s arrives without its matrix", c.Key)
		}
	}
	back, err = DecodeLaunch(encoded(t, launchOf(o, generated(t, "ring 1MiB", 64), o)))
	if err != nil || specOf(t, back.Cases[1]).Matrix.NonZero() != 64 ||
		specOf(t, back.Cases[2]).Matrix.NonZero() != 64*63 {
		t.Errorf("other matrices arrive wrong: %v", err)
	}
	if back, err = DecodeLaunch([]byte(`{"ranks": 2, "cases": [{"key": "a"}, {"key": "b"}]}`)); err != nil ||
		back.Cases[1].Large != nil {
		t.Errorf("a transfer got a matrix: %v", err)
	}
}

// The error of a launch that is too long has its length and its longest case.
func TestALaunchThatIsTooLong(t *testing.T) {
	long := func(mib int) move.Spec {
		return move.Spec{Pages: strings.Repeat("x", mib<<20)}
	}
	encoded(t, launchOf(long(20), long(23), long(20))) // is not
	_, err := EncodeLaunch(launchOf(long(20), long(23), long(22)))
	const want = "launch l-0: its 3 cases take 65.0 MiB encoded, at most 64 MiB are allowed (the longest: case c[x=1], 23.0 MiB): "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	if _, err := DecodeLaunch(make([]byte, MaxLaunch+1)); err == nil ||
		!strings.Contains(err.Error(), "67108864 is the most") {
		t.Errorf("%v", err)
	}
}

// All ranks get the same launch and their own identity, through a socket that takes less at a time.
func TestEachRankIsToldWhoItIs(t *testing.T) {
	text := encoded(t, launchOf(generated(t, "sparse 1MiB peers=40 seed=3", 64)))
	for rank := range 2 {
		here, there := net.Pipe()
		want := engine.Identity{Rank: rank, CPUs: []int{rank, 63}}
		body, err := EncodeSelf(want, redact.Values{"a\xffsecret"}, text)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- Write(here, KindLaunch, body...) }()
		f, err := Read(there)
		if err != nil || <-done != nil {
			t.Fatal(err)
		}
		l, err := DecodeSelf(f.Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Hidden) != 1 || l.Hidden[0] != "a\xffsecret" {
			t.Errorf("rank %d hides %q", rank, l.Hidden)
		}
		if diff := cmp.Diff(want, l.Self); diff != "" || !bytes.Equal(encoded(t, l.Launch), text) {
			t.Errorf("rank %d: %s, and the launch came as %.60q", rank, diff, encoded(t, l.Launch))
		}
	}
}

func TestIntroductionsThatAreNone(t *testing.T) {
	self := func(name, launch string) []byte { return []byte(string(rune(len(name))) + name + launch) }
	const two = `{"ranks":2}`
	for body, want := range map[string]string{
		"":       "cut short",
		"\x05{}": "cut short",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01{}": "cut short",
		string(self("x", two)):                       "invalid character",
		string(self("{}", "x")):                      "reading a launch",
		string(self(`{"rank":2}`, two)):              "rank 2 of 2",
		string(self(`{"rank":-1}`, two)):             "rank -1 of 2",
	} {
		if l, err := DecodeSelf([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %+v, %v, want %q", body, l, err, want)
		}
	}
}
