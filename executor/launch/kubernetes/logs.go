package kubernetes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"weir/executor/kubectl"
	"weir/executor/launch"
)

// mostLog is how much of an agent's output is kept, in bytes.
const mostLog = 16 << 20

// prefixed is a line of several pods' logs: [pod/NAME/CONTAINER] TEXT.
var prefixed = regexp.MustCompile(`^\[pod/([^/\]]+)/[^\]]*\] ?`)

// collect begins to write the agents' output into files NODE.log. What is returned is
// called when the pods are gone, and returns when all is written.
//
// A pod's output goes with it, and what an agent says at its end it says after it was
// told to: so those that still run are followed, and all are read at once besides, in
// case they are gone before a follower has begun.
func (h *handle) collect(ctx context.Context, grace time.Duration) (wait func() error) {
	pods, err := h.poll(ctx)
	if err != nil {
		return func() error { return fmt.Errorf("collecting the agents' output: %w", err) }
	}
	running := false
	begun := 0
	files := map[string]string{} // by pod
	for _, p := range pods {
		if p.State == launch.Running || p.State == launch.Exited || p.name != "" && p.State == launch.Lost {
			begun++
			files[p.name] = filepath.Join(h.r.Dir, p.Node+".log")
		}
		running = running || p.State == launch.Running
	}
	if begun == 0 {
		return func() error { return nil }
	}
	followed := make(chan map[string][]byte, 1)
	follow, stop := context.WithTimeout(ctx, grace+slack)
	if running {
		go func() {
			texts, _ := h.read(follow, begun, "--follow")
			followed <- texts
		}()
	} else {
		followed <- nil
	}
	bounded, cancel := context.WithTimeout(ctx, slack) // a node that is away does not answer
	defer cancel()
	texts, err := h.read(bounded, begun)
	return func() error {
		select {
		case more := <-followed:
			longer(texts, more)
		case <-time.After(5 * time.Second): // its node is away
			stop()
			longer(texts, <-followed)
		}
		stop()
		return errors.Join(err, write(texts, files))
	}
}

func longer(texts, than map[string][]byte) {
	for pod, text := range than {
		if len(text) > len(texts[pod]) {
			texts[pod] = text
		}
	}
}

func write(texts map[string][]byte, files map[string]string) error {
	for pod, file := range files {
		if err := os.WriteFile(file, texts[pod], 0o644); err != nil {
			return fmt.Errorf("keeping the output of an agent: %w", err)
		}
	}
	return nil
}

// read is the output of all pods, by pod. Those that are not there are left out.
func (h *handle) read(ctx context.Context, pods int, more ...string) (map[string][]byte, error) {
	cmd := h.l.command(ctx, append([]string{"logs", "--selector", mark + "=" + h.name, "--container", agent, "--prefix",
		"--ignore-errors",
		"--tail=-1", "--limit-bytes", strconv.Itoa(mostLog), "--max-log-requests", strconv.Itoa(max(5, pods))},
		more...)...)
	stderr := kubectl.Bounded{Most: 64 << 10}
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return map[string][]byte{}, fmt.Errorf("reading the agents' output: %w", err)
	}
	texts := split(out)
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		return texts, fmt.Errorf("reading the agents' output: %w", h.l.explain("logs", stderr.String(), err))
	}
	return texts, nil
}

// split sorts prefixed lines by pod, up to mostLog bytes of each.
func split(r io.Reader) map[string][]byte {
	texts := map[string][]byte{}
	var pod string
	for lines := bufio.NewReaderSize(r, 64<<10); ; {
		line, err := lines.ReadSlice('\n') // of a very long line the rest has no prefix
		if m := prefixed.FindSubmatchIndex(line); m != nil {
			pod = string(line[m[2]:m[3]])
			line = line[m[1]:]
		}
		if pod != "" && len(line) > 0 && len(texts[pod])+len(line) <= mostLog {
			texts[pod] = append(texts[pod], line...)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return texts
		}
	}
}
