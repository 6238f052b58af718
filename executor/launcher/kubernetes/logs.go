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

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

// mostLog is the largest kept output of an agent, in bytes.
const mostLog = 16 << 20

// prefixed matches a line of kubectl logs --prefix: [pod/NAME/CONTAINER] TEXT.
var prefixed = regexp.MustCompile(`^\[pod/([^/\]]+)/[^\]]*\] ?`)

// collect starts to read the agents' output. Call the returned function when the pods are gone: it writes
// the files NODE.log.
//
// The output of a pod is deleted with it, and an agent prints its last lines after it was told to end: running
// pods are followed, and all pods are also read at once, in case they end before they are followed.
func (h *handle) collect(ctx context.Context, grace time.Duration) (wait func() error) {
	pods, err := h.poll(ctx)
	if err != nil {
		return func() error { return fmt.Errorf("collecting the agents' output: %w", err) }
	}
	running := false
	begun := 0
	files := map[string]string{} // by pod
	for _, p := range pods {
		if p.State == launcher.Running || p.State == launcher.Exited || p.name != "" && p.State == launcher.Lost {
			begun++
			files[p.name] = filepath.Join(h.r.Dir, p.Node+".log")
		}
		running = running || p.State == launcher.Running
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
	bounded, cancel := context.WithTimeout(ctx, slack) // an unreachable node does not answer
	defer cancel()
	texts, err := h.read(bounded, begun)
	return func() error {
		select {
		case more := <-followed:
			longer(texts, more)
		case <-time.After(5 * time.Second): // its node is unreachable
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

// read is the output of all existing pods, by pod.
func (h *handle) read(ctx context.Context, pods int, more ...string) (map[string][]byte, error) {
	cmd := h.l.kube.Command(ctx, append([]string{"logs", "--selector", mark + "=" + h.name, "--container", agent,
		"--prefix", "--ignore-errors", "--tail=-1", "--limit-bytes", strconv.Itoa(mostLog), "--max-log-requests",
		strconv.Itoa(max(5, pods))},
		more...)...)
	stderr := kube.Bounded{Most: 64 << 10}
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
		return texts, fmt.Errorf("reading the agents' output: %w", h.l.kube.Explain("logs", stderr.String(),
			err))
	}
	return texts, nil
}

// split sorts prefixed lines by pod, up to mostLog bytes of each.
func split(r io.Reader) map[string][]byte {
	texts := map[string][]byte{}
	var pod string
	for lines := bufio.NewReaderSize(r, 64<<10); ; {
		line, err := lines.ReadSlice('\n') // the rest of a very long line has no prefix
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
