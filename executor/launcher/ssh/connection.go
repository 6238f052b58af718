package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/socketpair"
)

// connection is an ssh with a command on a host.
type connection struct {
	host string
	cmd  *exec.Cmd
	pipe *pipe           // the command's stdin and stdout
	log  *launcher.Lines // stderr of the command and of ssh
	over chan struct{}   // closed when ssh has ended
}

// pipe is a socket connected to ssh's stdin and stdout. Unlike pipes, it has deadlines and a half-close.
type pipe struct {
	*net.UnixConn
	host string
}

type address string

func (address) Network() string  { return "ssh" }
func (a address) String() string { return string(a) }

// RemoteAddr names the host.
func (p *pipe) RemoteAddr() net.Addr { return address(p.host) }

// dial runs a command on a host.
func (l *Launcher) dial(host, command string) (*connection, error) {
	ours, theirs, err := socketpair.New()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	argv := l.argv(host, command)
	c := &connection{
		host: host, cmd: exec.Command(argv[0], argv[1:]...), pipe: &pipe{ours, host}, log: &launcher.Lines{},
		over: make(chan struct{}),
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs, theirs, c.log
	// an interrupt at the terminal goes to weir alone, which ends the agents
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = 2 * time.Second // a child of ssh may keep stderr open
	if err := c.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting ssh: %w", err)
	}
	go func() {
		c.cmd.Wait() // see cmd.ProcessState
		close(c.over)
	}()
	return c, nil
}

// kill kills ssh and its children (a ProxyCommand).
func (c *connection) kill() {
	select {
	case <-c.over:
	default:
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	}
}

// close ends the connection and waits for ssh.
func (c *connection) close() {
	c.kill()
	<-c.over
	c.pipe.Close()
}

var errSlow = errors.New("it took too long")

// await reads lines until one contains one of the words, and returns the rest of that line. It kills ssh when
// ctx ends or at the time limit.
func (c *connection) await(ctx context.Context, limit time.Duration, words ...string) (word, more string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	defer context.AfterFunc(ctx, c.kill)()
	line := make([]byte, 0, 128)
	one := make([]byte, 1)
	for range maxChatter {
		// one byte at a time: the bytes after the line belong to the connection
		if _, err := c.pipe.Read(one); err != nil {
			<-c.over // so that the log is complete
			if ctx.Err() != nil {
				return "", "", context.Cause(ctx)
			}
			return "", "", fmt.Errorf("ssh ended with %d", c.cmd.ProcessState.ExitCode())
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		for _, w := range words {
			if _, after, ok := strings.Cut(string(line), w); ok {
				return w, launcher.Printable(strings.TrimSpace(after)), nil
			}
		}
		line = line[:0]
	}
	return "", "", fmt.Errorf("its login shell writes more than %d bytes", maxChatter)
}

// finish waits up to 5 s for a command to end, so that the log is complete.
func (c *connection) finish() {
	select {
	case <-c.over:
	case <-time.After(5 * time.Second):
	}
}
