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

	"weir/executor/environ"
	"weir/redact"
	"weir/results"
)

// ArtifactTask asks for the output of a command, or for files.
type ArtifactTask struct {
	Command []string      `json:"command,omitempty"`
	File    string        `json:"file,omitempty"` // an absolute path, or a pattern of such
	Timeout time.Duration `json:"timeout"`
}

// ArtifactReport is one file of an artifact. There is at least one for each task; the
// last one says so.
type ArtifactReport struct {
	Source  string // path on the node; "": output of the command
	Content []byte
	Status  string // as results.Artifact has it; of one that is missing there is no content
	Reason  string
	Last    bool
}

// Bounds of what a node is asked for: of a file, of all files of an artifact, and of
// their number.
const (
	maxArtifact      = 16 << 20
	MaxArtifactTotal = 64 << 20
	MaxArtifactFiles = 100
)

// artifact gathers what is asked for, and reports each file by itself.
func (a *Agent) artifact(ctx context.Context, t ArtifactTask, h redact.Values, report func(ArtifactReport)) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, fmt.Errorf("not done within %v", t.Timeout))
	defer cancel()
	if a.o.NoCommands { // files of the node are as much its owner's business
		report(ArtifactReport{Source: h.Text(t.File), Status: results.ArtifactMissing, Reason: refusal, Last: true})
		return
	}
	if len(t.Command) > 0 {
		r := a.outputOf(ctx, t, h)
		r.Last = true
		report(r)
		return
	}
	paths, err := []string{t.File}, error(nil)
	if IsPattern(t.File) {
		paths, err = unlessOver(ctx, func() ([]string, error) {
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
		r := a.fileOf(ctx, path, h)
		r.Last = i == len(paths)-1
		total += len(r.Content)
		report(r)
	}
}

// outputOf runs a command and keeps the beginning of what it writes.
func (a *Agent) outputOf(ctx context.Context, t ArtifactTask, h redact.Values) ArtifactReport {
	out := &capture{most: enough(h)}
	err := a.spawner.runOpen(ctx, t.Timeout, ofCommands, t.Command, a.environment(environ.Layers{}).Env, out, out)
	r := kept(out.kept.Bytes(), out.written, h)
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		r.Status, r.Reason = results.ArtifactTruncated,
			"its output was still open when it had ended: what came later is left out"
	case err != nil && out.written == 0:
		return ArtifactReport{Status: results.ArtifactMissing, Reason: h.Text(err.Error())}
	case err != nil:
		r.Status, r.Reason = results.ArtifactFailed, h.Text(err.Error())
	}
	return r
}

// IsPattern says whether a path stands for any number of files.
func IsPattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// unlessOver does something that may wait for a file system that does not answer. When
// ctx ends before, it is left alone.
func unlessOver[T any](ctx context.Context, do func() (T, error)) (v T, err error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case <-ctx.Done():
		return v, context.Cause(ctx)
	case o := <-done:
		return o.v, o.err
	}
}

// fileOf keeps the beginning of a file.
func (a *Agent) fileOf(ctx context.Context, path string, h redact.Values) ArtifactReport {
	r, err := unlessOver(ctx, func() (ArtifactReport, error) {
		if err := a.o.RankUser.Opens(); err != nil {
			return ArtifactReport{}, err
		}
		f, err := openFile(path)
		if err != nil {
			return ArtifactReport{}, err
		}
		defer f.Close()
		content, size, err := readBeginning(f, enough(h))
		return kept(content, size, h), err
	})
	if err != nil {
		r = ArtifactReport{Status: results.ArtifactMissing, Reason: h.Text(err.Error())}
	}
	r.Source = h.Text(path)
	return r
}

// openFile opens a file for reading. Opening a pipe would wait for its writer otherwise.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// readBeginning reads at most so many bytes of a regular file, and says how many it has;
// those of /proc say that they have none. Only regular files have an end for certain: a
// pipe may stand still, a device go on for ever.
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

// enough is how much of an artifact must be read: what is kept, and behind it room for
// a secret that begins before its end.
func enough(h redact.Values) int { return maxArtifact + 1 + h.Room() }

// kept is what is kept of a beginning of something of this size: nothing of a secret,
// not even the first letters of one that is cut off.
func kept(content []byte, size int64, h redact.Values) ArtifactReport {
	whole := size <= maxArtifact
	if !whole {
		content = content[:min(len(content), enough(h))]
	}
	if len(h) > 0 {
		var clean bytes.Buffer
		w := h.Writer(&clean)
		_, _ = w.Write(content) // a bytes.Buffer takes everything
		if whole {
			_ = w.Flush()
		}
		content = clean.Bytes()
	}
	if whole && len(content) <= maxArtifact {
		return ArtifactReport{Content: content, Status: results.OK}
	}
	content = content[:min(len(content), maxArtifact)]
	return ArtifactReport{
		Content: content, Status: results.ArtifactTruncated,
		Reason: fmt.Sprintf("the first %d of %d bytes were kept", len(content), size),
	}
}
