package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/test/phase"
)

// TestOutputOfACommandIsBounded, with and without secrets, and what is short is
// kept as it is.
func TestOutputOfACommandIsBounded(t *testing.T) {
	phase.Long(t)
	const more = 3 << 20
	for _, h := range []hidden{nil, {"a secret"}} {
		for written, want := range map[int]int64{100: 0, maxOutput: 0, maxOutput + more: more} {
			a := New(Options{LogDir: t.TempDir()})
			c := CommandTask{
				Name: "talk", Command: []string{"sh", "-c", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", written)},
				Timeout: 30 * time.Second, Log: "talk.log",
			}
			r := a.command(t.Context(), "talk", c, h)
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if r.Status != "ok" {
				t.Fatalf("%d bytes: %+v", written, r)
			}
			b, err := os.ReadFile(filepath.Join(a.o.LogDir, "talk.log"))
			if err != nil {
				t.Fatal(err)
			}
			expected := strings.Repeat("x", min(written, maxOutput))
			if want > 0 {
				expected += fmt.Sprintf("\n… %d bytes more were left out\n", want)
			}
			if string(b) != expected {
				t.Errorf("of %d bytes, %d are kept: …%q", written, len(b), b[max(0, len(b)-60):])
			}
		}
	}
}

// What the libraries of a rank print is bounded as well.
func TestTheLogOfARankIsBounded(t *testing.T) {
	phase.Long(t)
	const more = 3 << 20
	dir := t.TempDir()
	c, reports := joined(t, Options{LogDir: dir, RankCommand: []string{
		"sh", "-c", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", maxOutput+more)}})
	if r, cause := c.answer(t, "talk", c.launchTask(t, "talk", "g", nil), reports); r.Outcome == nil {
		t.Fatalf("%+v: %s", r, cause)
	}
	b, err := os.ReadFile(filepath.Join(dir, "g", "0", "0.log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\n… %d bytes more were left out\n", more); len(b) != maxOutput+len(want) ||
		!strings.HasSuffix(string(b), want) {
		t.Errorf("%d bytes are kept, …%q", len(b), b[max(0, len(b)-60):])
	}
}
