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
