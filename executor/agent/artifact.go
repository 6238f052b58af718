package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results"
)

// ArtifactTask requests the output of a command, or files.
type ArtifactTask struct {
	Command []string      `json:"command,omitempty"`
	File    string        `json:"file,omitempty"` // an absolute path or a pattern for filepath.Glob
	Timeout time.Duration `json:"timeout"`
}

// ArtifactReport is one file of an artifact. Each task has at least one.
type ArtifactReport struct {
	Source  string `json:"source"` // path on the node; "": output of the command
	Content []byte `json:"-"`
	Status  string `json:"status"` // as in results.Artifact; a missing one has no content
	Reason  string `json:"reason"`
	Last    bool   `json:"last"`
}

// Limits of an artifact on a node: bytes of a file, bytes of all files, and files.
const (
	maxArtifact      = 16 << 20
	maxArtifactLine  = 200 // characters of the last line of a command that failed
	MaxArtifactTotal = 64 << 20
	MaxArtifactFiles = 100
)

func (a *Agent) artifact(ctx context.Context, t ArtifactTask, h redact.Values, report func(ArtifactReport)) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, fmt.Errorf("not done within %v", t.Timeout))
	defer cancel()
	if err := a.permitCommands(); err != nil {
		report(ArtifactReport{
			Source: h.Text(t.File), Status: results.ArtifactMissing, Reason: err.Error(), Last: true,
		})
		return
	}
	if len(t.Command) > 0 {
		r := a.commandOutput(ctx, t, h)
		r.Last = true
		report(r)
		return
	}
	paths, err := []string{t.File}, error(nil)
	if IsPattern(t.File) {
		paths, err = withContext(ctx, func() ([]string, error) {
			if err := a.o.RankUser.Opens(); err != nil {
				return nil, err
			}
			return filepath.Glob(t.File)
		})
	}
	if len(paths) == 0 && err == nil {
		err = errors.New("there is no such file")
	}
	if err != nil {
		report(ArtifactReport{
			Source: h.Text(t.File), Status: results.ArtifactMissing, Reason: h.Text(err.Error()), Last: true,
		})
		return
	}
	total := 0
	for i, path := range paths {
		if i == MaxArtifactFiles || total >= MaxArtifactTotal {
			report(ArtifactReport{
				Source: h.Text(t.File), Status: results.ArtifactMissing, Last: true,
				Reason: fmt.Sprintf("%d further files were left out: an artifact has at most %d of a node, and %d bytes",
					len(paths)-i, MaxArtifactFiles, MaxArtifactTotal),
			})
			return
		}
		r := a.fileContent(ctx, path, h)
		r.Last = i == len(paths)-1
		total += len(r.Content)
		report(r)
	}
}

func (a *Agent) commandOutput(ctx context.Context, t ArtifactTask, h redact.Values) ArtifactReport {
	out := &capture{most: readLimit(h)}
	err := a.spawner.runOpen(ctx, t.Timeout, forCommands, t.Command, a.environment(environ.Layers{}).Env, out, out)
	r := artifactReport(out.kept.Bytes(), out.written, h)
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		r.Status, r.Reason = results.ArtifactTruncated,
			"its output was still open when it had ended: later output is left out"
	case err != nil && out.written == 0:
		return ArtifactReport{Status: results.ArtifactMissing, Reason: h.Text(err.Error())}
	case err != nil:
		r.Status, r.Reason = results.ArtifactFailed, h.Text(err.Error())
		if line := lastLine(r.Content); line != "" {
			r.Reason += ": " + line
		}
	}
	return r
}

// lastLine returns the last line of the kept output that has text, cut to a length.
func lastLine(content []byte) string {
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	line := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(line) > maxArtifactLine {
		return string(line[:maxArtifactLine]) + "…"
	}
	return string(line)
}

// IsPattern reports whether a path is a pattern for any number of files.
func IsPattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// withContext calls do in a goroutine, because a file system may hang, and abandons it when ctx ends.
func withContext[T any](ctx context.Context, do func() (T, error)) (v T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		v, err := do()
		done <- func() (T, error) { return v, err }
	}()
	select {
	case <-ctx.Done():
		return v, context.Cause(ctx)
	case outcome := <-done:
		return outcome()
	}
}

func (a *Agent) fileContent(ctx context.Context, path string, h redact.Values) ArtifactReport {
	r, err := withContext(ctx, func() (ArtifactReport, error) {
		if err := a.o.RankUser.Opens(); err != nil {
			return ArtifactReport{}, err
		}
		f, err := openFile(path)
		if err != nil {
			return ArtifactReport{}, err
		}
		defer f.Close()
		content, size, err := readBeginning(f, readLimit(h))
		return artifactReport(content, size, h), err
	})
	if err != nil {
		r = ArtifactReport{Status: results.ArtifactMissing, Reason: h.Text(err.Error())}
	}
	r.Source = h.Text(path)
	return r
}

// openFile opens a file for reading, without waiting for the writer of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// readBeginning reads up to most bytes of a regular file and returns its size, at least that of the content: files
// of /proc have size 0. Pipes and devices may have no end, so they are refused.
func readBeginning(f *os.File, most int) ([]byte, int64, error) {
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, 0, err
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(most)))
	return b, max(st.Size(), int64(len(b))), err
}

// readLimit is how many bytes of an artifact must be read: the kept part, and a secret that begins in it.
func readLimit(h redact.Values) int { return maxArtifact + 1 + h.Room() }

// artifactReport reports the beginning of content of this size, without secrets or parts of them.
func artifactReport(content []byte, size int64, h redact.Values) ArtifactReport {
	complete := size <= maxArtifact
	if !complete {
		content = content[:min(len(content), readLimit(h))]
	}
	if len(h) > 0 {
		var clean bytes.Buffer
		w := h.Writer(&clean)
		_, _ = w.Write(content) // a bytes.Buffer takes everything
		if complete {
			_ = w.Flush()
		}
		content = clean.Bytes()
	}
	if complete && len(content) <= maxArtifact {
		return ArtifactReport{Content: content, Status: results.OK}
	}
	content = content[:min(len(content), maxArtifact)]
	return ArtifactReport{
		Content: content, Status: results.ArtifactTruncated,
		Reason: fmt.Sprintf("the first %d of %d bytes were kept", len(content), size),
	}
}
