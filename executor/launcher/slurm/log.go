package slurm

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/executor/launcher"
)

// maxLog is the size of the end of a job's output that is read, in bytes.
const maxLog = 1 << 20

// output is the output of a job.
type output struct {
	nodes map[int]*launcher.Lines // by task
	ended map[string]ending       // srun's messages about failed tasks, by node
	own   launcher.Lines          // unlabelled lines: Slurm's own
}

type ending struct {
	code int // -1: a signal
	says string
}

var (
	labelled = regexp.MustCompile(`^ *(\d+): ?(.*)$`)
	failed   = regexp.MustCompile(`^srun: error: (\S+): tasks? \S+: (.+)$`)
	exited   = regexp.MustCompile(`^Exited with exit code (\d+)$`)
)

// readOutput reads the end of a job's output; a missing file is empty.
func readOutput(path string) (*output, error) {
	o := &output{nodes: map[int]*launcher.Lines{}, ended: map[string]ending{}}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return o, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agents' output: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > maxLog {
		if _, err := f.Seek(-maxLog, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("reading the agents' output: %w", err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLog))
	if err != nil {
		return nil, fmt.Errorf("reading the agents' output: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		o.take(strings.TrimSuffix(line, "\n"))
	}
	return o, nil
}

func (o *output) take(line string) {
	if m := labelled.FindStringSubmatch(line); m != nil {
		if task, err := strconv.Atoi(m[1]); err == nil {
			if o.nodes[task] == nil {
				o.nodes[task] = &launcher.Lines{}
			}
			fmt.Fprintln(o.nodes[task], m[2])
			return
		}
	}
	if m := failed.FindStringSubmatch(line); m != nil {
		e := ending{code: -1, says: launcher.Printable(m[2])}
		if code := exited.FindStringSubmatch(m[2]); code != nil {
			e.code, _ = strconv.Atoi(code[1]) // digits
		}
		for _, node := range hosts(m[1]) {
			o.ended[node] = e
		}
	}
	fmt.Fprintln(&o.own, line)
}

func (o *output) of(task int) []string {
	if lines := o.nodes[task]; lines != nil {
		return lines.All()
	}
	return nil
}

func (o *output) last(task int) string {
	if lines := o.nodes[task]; lines != nil {
		return lines.Last()
	}
	return ""
}
