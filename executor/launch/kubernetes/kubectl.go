package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"weir/dsl/yamlsyntax"
)

// maxAnswer bounds what kubectl may say: thousands of pods take some tens of MiB.
const maxAnswer = 256 << 20

// kubectl runs the user's kubectl and returns what it wrote. What goes in may be
// secret, and so goes through standard input alone.
func (l *Launcher) kubectl(ctx context.Context, in []byte, args ...string) (out []byte, warnings []string, err error) {
	cmd := l.command(ctx, args...)
	stdout, stderr := bounded{most: maxAnswer}, bounded{most: 1 << 20}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	err = cmd.Run()
	for line := range strings.Lines(stderr.String()) {
		if text, ok := strings.CutPrefix(line, "Warning: "); ok {
			warnings = append(warnings, strings.TrimSpace(text))
		}
	}
	switch {
	case err == nil && stdout.over:
		return nil, warnings, fmt.Errorf("kubectl %s: answered with more than %d bytes", args[0], maxAnswer)
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("kubectl %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		err = l.explain(args[0], stderr.String(), err)
	}
	return stdout.Bytes(), warnings, err
}

func (l *Launcher) command(ctx context.Context, args ...string) *exec.Cmd {
	var where []string
	if l.o.Context != "" {
		where = append(where, "--context", l.o.Context)
	}
	if l.o.Namespace != "" {
		where = append(where, "--namespace", l.o.Namespace)
	}
	cmd := exec.CommandContext(ctx, l.o.Kubectl, append(where, args...)...)
	cmd.WaitDelay = time.Second // a plugin of its that holds the pipes open
	return cmd
}

// failure is what kubectl said when it failed.
type failure struct{ verb, said, hint string }

func (f *failure) Error() string {
	text := fmt.Sprintf("kubectl %s: %s", f.verb, f.said)
	if f.hint != "" {
		text += " (" + f.hint + ")"
	}
	return text
}

// hints are what to do about errors that people meet before anything works.
var hints = []struct{ said, hint string }{
	{"exceeded quota", "ask for less with --kube-resource, or for more quota"},
	{"denied the request", "a rule of this cluster, which --kube-patch may help to follow"},
	{"(Forbidden)", "your account lacks a right: weir needs create, get, list, patch and delete of jobs, get, list, create and delete of services and secrets, get, list and delete of pods, get of pods/log, list of events, in one namespace"},
	{"(Unauthorized)", "sign in again, or choose another context with --kube-context"},
	{"must be logged in", "sign in again, or choose another context with --kube-context"},
	{"connection refused", "is this the right cluster? \"kubectl config get-contexts\" lists those that there are; choose with --kube-context"},
	{"no such host", "is this the right cluster? \"kubectl config get-contexts\" lists those that there are; choose with --kube-context"},
	{"context was not found", "\"kubectl config get-contexts\" lists those that there are"},
	{"does not exist", "\"kubectl config get-contexts\" lists the contexts that there are"},
	{"namespaces \"", "choose another with --kube-namespace, or make it with \"kubectl create namespace\""},
	{"(AlreadyExists)", "a former coordinator of this session left it; \"kubectl delete job\" removes it with all that it owns"},
}

func (l *Launcher) explain(verb, stderr string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s is not installed here: weir asks clusters through it; install it or name another with --kube-kubectl",
			l.o.Kubectl)
	}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		// Lines like "E1122 03:04:05.678 …" are its log, which the last line sums up.
		if line != "" && !strings.HasPrefix(line, "Warning: ") &&
			!(len(line) > 5 && line[0] == 'E' && line[1] >= '0' && line[1] <= '9') {
			lines = append(lines, line)
		}
	}
	f := &failure{verb: verb, said: strings.Join(lines, "; ")}
	if f.said == "" {
		f.said = err.Error()
	}
	for _, h := range hints {
		if strings.Contains(f.said, h.said) {
			f.hint = h.hint
			break
		}
	}
	return f
}

// create makes objects and returns the first of them as the cluster has it.
func (l *Launcher) create(ctx context.Context, objects []any, args ...string) (object, []string, error) {
	text, err := yamlsyntax.WriteData(objects...)
	if err != nil {
		return nil, nil, err
	}
	// create, not apply: that would keep a copy of the Secret in an annotation.
	out, warnings, err := l.kubectl(ctx, text,
		append([]string{"create", "--filename", "-", "--output", "json", "--validate=strict"}, args...)...)
	if err != nil {
		return nil, warnings, err
	}
	var first object
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&first); err != nil {
		return nil, warnings, fmt.Errorf("reading what kubectl create said: %w", err)
	}
	return first, warnings, nil
}

// get reads a list of objects into out.
func (l *Launcher) get(ctx context.Context, out any, args ...string) error {
	text, _, err := l.kubectl(ctx, nil, append([]string{"get", "--output", "json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading what kubectl get said: %w", err)
	}
	return nil
}

// bounded keeps the first bytes of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.most - b.Len(); n > room {
		b.over = true
		p = p[:room]
	}
	b.Buffer.Write(p)
	return n, nil
}
