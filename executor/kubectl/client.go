// Package kubectl asks Kubernetes clusters through the user's own kubectl, so that contexts,
// namespaces and ways to sign in are those that the user has configured.
package kubectl

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

// Client is a kubectl with the place that it is to ask.
type Client struct {
	Program   string // "": kubectl
	Context   string // of kubectl's configuration; "": the current one
	Namespace string // "": the context's
	Hints     []Hint // what to do about errors, the first that fits
	Missing   string // what to do where the program is not installed
}

// Hint is what to do about an error that says some words.
type Hint struct{ Said, Do string }

// Object is a part of a manifest, in the words of Kubernetes' API.
type Object = map[string]any

// maxAnswer bounds what kubectl may say: thousands of pods take some tens of MiB.
const maxAnswer = 256 << 20

// Run runs kubectl and returns its output and its warnings. in may hold secrets, so kubectl
// gets it through standard input alone.
func (c *Client) Run(ctx context.Context, in []byte, args ...string) (out []byte, warnings []string, err error) {
	cmd := c.Command(ctx, args...)
	stdout, stderr := Bounded{Most: maxAnswer}, Bounded{Most: 1 << 20}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	err = cmd.Run()
	for line := range strings.Lines(stderr.String()) {
		if text, ok := strings.CutPrefix(line, "Warning: "); ok {
			warnings = append(warnings, strings.TrimSpace(text))
		}
	}
	switch {
	case err == nil && stdout.Over:
		return nil, warnings, fmt.Errorf("kubectl %s: answered with more than %d bytes", args[0], maxAnswer)
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("kubectl %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		err = c.Explain(args[0], stderr.String(), err)
	}
	return stdout.Bytes(), warnings, err
}

// Command is a kubectl that has not been started.
func (c *Client) Command(ctx context.Context, args ...string) *exec.Cmd {
	var where []string
	if c.Context != "" {
		where = append(where, "--context", c.Context)
	}
	if c.Namespace != "" {
		where = append(where, "--namespace", c.Namespace)
	}
	cmd := exec.CommandContext(ctx, c.program(), append(where, args...)...)
	cmd.WaitDelay = time.Second // a plugin of its that holds the pipes open
	return cmd
}

func (c *Client) program() string {
	if c.Program == "" {
		return "kubectl"
	}
	return c.Program
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

// Explain is the error of a kubectl that failed, by what it said.
func (c *Client) Explain(verb, stderr string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s is not installed here: weir asks clusters through it; %s", c.program(), c.Missing)
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
	for _, h := range c.Hints {
		if strings.Contains(f.said, h.Said) {
			f.hint = h.Do
			break
		}
	}
	return f
}

// Create makes objects and returns the first of them as the cluster has it.
func (c *Client) Create(ctx context.Context, objects []any, args ...string) (Object, []string, error) {
	text, err := yamlsyntax.WriteData(objects...)
	if err != nil {
		return nil, nil, err
	}
	// create, not apply: that would keep a copy of what may be secret in an annotation.
	out, warnings, err := c.Run(ctx, text,
		append([]string{"create", "--filename", "-", "--output", "json", "--validate=strict"}, args...)...)
	if err != nil {
		return nil, warnings, err
	}
	var first Object
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&first); err != nil {
		return nil, warnings, fmt.Errorf("reading what kubectl create said: %w", err)
	}
	return first, warnings, nil
}

// Get reads a list of objects into out.
func (c *Client) Get(ctx context.Context, out any, args ...string) error {
	text, _, err := c.Run(ctx, nil, append([]string{"get", "--output", "json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading what kubectl get said: %w", err)
	}
	return nil
}

// Bounded keeps the first bytes of what is written to it.
type Bounded struct {
	bytes.Buffer
	Most int
	Over bool
}

func (b *Bounded) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.Most - b.Len(); n > room {
		b.Over = true
		p = p[:room]
	}
	b.Buffer.Write(p)
	return n, nil
}
