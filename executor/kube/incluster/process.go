package incluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/steady"
)

// process is a long-running kubectl. It is killed with this process.
type process struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	stderr *kube.Bounded
	over   chan struct{} // closed when it has ended
	err    error         // of Wait
}

// begin starts a process.
func begin(cmd *exec.Cmd) (*process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, out: out, stderr: &kube.Bounded{Most: 64 << 10}, over: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = in, p.stderr
	// Ctrl-C at a terminal goes to weir alone
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = child.Start(cmd, func(err error) {
		p.err = err
		close(p.over)
	})
	in.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	return p, nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end kills the process and waits for it.
func (p *process) end() {
	p.kill()
	<-p.over
	p.out.Close()
}

// said is its stderr as an error, or the error of its end.
func (p *process) said() error {
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return errors.New(text)
	}
	if p.err != nil {
		return p.err
	}
	return errors.New("it ended")
}

// log is the output of a service, line by line.
type log struct {
	mu      sync.Mutex
	to      io.Writer
	stamped bool // lines begin with their times
	clock   steady.Clock
}

func (l *log) line(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stamped {
		text = append(l.clock.Now().AppendFormat(nil, logwatch.StampLayout+" "), text...)
	}
	_, _ = l.to.Write(text) // the reader of the log reports a full disk
}

// note adds a line of weir's own.
func (l *log) note(text string) {
	for line := range strings.Lines(text) {
		l.line(fmt.Appendf(nil, "weir: %s\n", strings.TrimRight(line, "\n")))
	}
}

// copy adds all lines of a reader.
func (l *log) copy(from io.Reader) {
	for lines := bufio.NewReaderSize(from, 64<<10); ; {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				line = append(line, '\n') // the last line
			}
			l.line(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
