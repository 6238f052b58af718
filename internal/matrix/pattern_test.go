package matrix

import (
	"io"
	"math"
	"testing"
)

func pipe(m *Matrix) (io.ReadCloser, <-chan error) {
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := m.Write(writer, Rounded)
		writer.Close()
		done <- err
	}()
	return reader, done
}

func TestSumsOverPatterns(t *testing.T) {
	m, err := Ring(2, math.MaxInt64/4)
	if err != nil {
		t.Fatal(err)
	}
	ps := make([]Pattern, 1000)
	for i := range ps {
		ps[i] = Pattern{Matrix: m, SleepBefore: 0.1, SleepAfter: 0.02, Metadata: []Field{{"isl", "5"}}}
	}
	if got := Sleeping(ps); math.Abs(got-120) > 1e-12 {
		t.Errorf("they sleep %v s", got)
	}
	if got := Bytes(ps[:1]); got != m.Total() {
		t.Errorf("%d bytes", got)
	}
	if got := Bytes(ps); got != math.MaxInt64 {
		t.Errorf("%d bytes", got)
	}
	if v, ok := ps[0].Lookup("isl"); v != "5" || !ok {
		t.Errorf("isl is %q", v)
	}
	if _, ok := ps[0].Lookup("osl"); ok {
		t.Error("there is no osl")
	}
}
