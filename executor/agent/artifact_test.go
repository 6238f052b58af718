package agent

import (
	"bytes"
	"context"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// The output of a command without an end must not fill the agent's memory, however package exec copies it.
func TestOutputOfCommandsIsBounded(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	out := &capture{most: 1000}
	if err := s.run(t.Context(), 20*time.Second, forRanks, []string{"head", "-c", "3000000", "/dev/zero"}, os.Environ(),
		out, out); err != nil {
		t.Fatal(err)
	}
	if out.kept.Len() != 1000 || out.written != 3_000_000 {
		t.Errorf("kept %d of %d bytes", out.kept.Len(), out.written)
	}
}

func TestArtifactsHaveBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range MaxArtifactFiles + 3 {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("x", i+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := New(Options{})
	defer a.Close()
	var all []ArtifactReport
	a.artifact(t.Context(), ArtifactTask{File: dir + "/*", Timeout: time.Minute}, nil,
		func(r ArtifactReport) { all = append(all, r) })
	last := all[len(all)-1]
	if len(all) != MaxArtifactFiles+1 || !last.Last || last.Status != results.ArtifactMissing ||
		!strings.Contains(last.Reason, "3 further files") {
		t.Errorf("%d reports, the last is %+v", len(all), last)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	all = nil
	a.artifact(ended, ArtifactTask{File: dir + "/*", Timeout: time.Minute}, nil,
		func(r ArtifactReport) { all = append(all, r) })
	if len(all) == 0 || !all[len(all)-1].Last {
		t.Errorf("of a task that was called off the coordinator does not hear the end: %+v", all)
	}
}

// TestNothingOfASecretIsKept: wherever a secret crosses the end of the kept part, the text before it is kept, but
// not even its first letters.
func TestNothingOfASecretIsKept(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	long := bytes.Repeat([]byte("-"), maxArtifact+100)
	h := redact.Values{"SECRETS", "SECRET"}
	for _, from := range []int{-20, -7, -6, -3, -1, 0, 1} { // around the end of what is kept
		for _, secret := range h {
			at := maxArtifact + from
			content := slices.Concat(long[:at], []byte(secret), long[at:])
			r := artifactReport(content[:readLimit(h)], int64(len(content)), h)
			whole := min(at, maxArtifact-len(h[0]))
			if !bytes.HasPrefix(r.Content, long[:whole]) {
				t.Fatalf("%d: less than %d bytes are left", from, whole)
			}
			if r.Status != results.ArtifactTruncated || len(r.Content) > maxArtifact ||
				bytes.ContainsAny(r.Content[whole:], "SECRT") {
				t.Fatalf("%d: %s, %d bytes, the end is %q", from, r.Status, len(r.Content),
					r.Content[len(r.Content)-30:])
			}
		}
	}
}
