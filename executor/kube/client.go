// Package kube accesses Kubernetes clusters with the user's own kubectl, with its contexts, namespaces and
// credentials, and interprets the status of pods.
package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// Client runs kubectl for a context and namespace.
type Client struct {
	Program   string // "": kubectl
	Context   string // of kubectl's configuration; "": the current one
	Namespace string // "": the context's
	Hints     []Hint // advice about errors, before the common hints; the first match counts
	Missing   string // advice if the program is not installed
}

// Hint is the advice Do for errors that contain Said.
type Hint struct{ Said, Do string }

// hints are the common advice about errors of access.
var hints = []Hint{
	{"(Unauthorized)", "sign in again, or choose another context"},
	{"must be logged in", "sign in again, or choose another context"},
	{"localhost:8080 was refused", "kubectl has no cluster: set KUBECONFIG, or write ~/.kube/config"},
	{" was refused", "is this the right cluster? " + listContexts},
	{"connection refused", "is this the right cluster? " + listContexts},
	{"no such host", "is this the right cluster? " + listContexts},
	{"context was not found", listContexts},
	{"does not exist", listContexts},
}

const listContexts = "\"kubectl config get-contexts\" lists the contexts"

// Object is a part of a manifest, with the keys of Kubernetes' API.
type Object = map[string]any

// maxAnswer is the largest output of kubectl, in bytes: thousands of pods take some tens of MiB.
const maxAnswer = 256 << 20

// Run runs kubectl and returns its output and its warnings. in, which may have secrets, is its stdin.
func (c *Client) Run(ctx context.Context, in io.Reader, args ...string) (out []byte, warnings []string, err error) {
	cmd := c.Command(ctx, args...)
	stdout, stderr := Bounded{Most: maxAnswer}, Bounded{Most: 1 << 20}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &stdout, &stderr
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

// Command is a kubectl command to be started.
func (c *Client) Command(ctx context.Context, args ...string) *exec.Cmd {
	var where []string
	if c.Context != "" {
		where = append(where, "--context", c.Context)
	}
	if c.Namespace != "" {
		where = append(where, "--namespace", c.Namespace)
	}
	cmd := exec.CommandContext(ctx, c.program(), append(where, args...)...)
	cmd.WaitDelay = time.Second // a credential plugin may keep the pipes open
	return cmd
}

func (c *Client) program() string {
	if c.Program == "" {
		return "kubectl"
	}
	return c.Program
}

// failure is the error of a failed kubectl.
type failure struct{ verb, said, hint string }

func (f *failure) Error() string {
	text := fmt.Sprintf("kubectl %s: %s", f.verb, f.said)
	if f.hint != "" {
		text += " (" + f.hint + ")"
	}
	return text
}

// Explain is the error of a failed kubectl, from its stderr.
func (c *Client) Explain(verb, stderr string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s is not installed here, and weir needs it for clusters; %s", c.program(), c.Missing)
	}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		// lines like "E1122 03:04:05.678 …" are log lines; the last line is the error
		if line != "" && !strings.HasPrefix(line, "Warning: ") &&
			!(len(line) > 5 && line[0] == 'E' && line[1] >= '0' && line[1] <= '9') {
			lines = append(lines, line)
		}
	}
	f := &failure{verb: verb, said: strings.Join(lines, "; ")}
	if f.said == "" {
		f.said = err.Error()
	}
	for _, h := range append(c.Hints[:len(c.Hints):len(c.Hints)], hints...) {
		if strings.Contains(f.said, h.Said) {
			f.hint = h.Do
			break
		}
	}
	return f
}

// Do runs a verb of kubectl on objects, and returns the resulting objects and kubectl's warnings.
func (c *Client) Do(ctx context.Context, verb string, objects []Object, args ...string) ([]Object, []string, error) {
	args = append([]string{verb, "--filename", "-", "--output", "json"}, args...)
	out, warnings, err := c.Run(ctx, Documents(objects), args...)
	if err != nil {
		return nil, warnings, err
	}
	all, err := decoded(out)
	return all, warnings, err
}

// Part is a mapping inside of an object, created if missing; nil if there is another value.
func Part(o Object, path ...string) Object {
	for _, key := range path {
		inner, ok := o[key].(Object)
		if !ok {
			if o[key] != nil {
				return nil
			}
			inner = Object{}
			o[key] = inner
		}
		o = inner
	}
	return o
}

// Plain converts a text to lower-case letters, digits and dashes, for names of objects.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
}

// Documents are objects as JSON documents in a YAML stream.
func Documents(all []Object) io.Reader {
	var out bytes.Buffer
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err) // objects are made of YAML or JSON
		}
		fmt.Fprintf(&out, "---\n%s\n", text)
	}
	return &out
}

// decoded reads the output of kubectl: consecutive objects, or a List.
func decoded(text []byte) (all []Object, err error) {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var o Object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of kubectl: %w", err)
		}
		items, isList := o["items"].([]any)
		if !isList {
			items = []any{o}
		}
		for _, i := range items {
			if o, ok := i.(Object); ok {
				all = append(all, o)
			}
		}
	}
}

// Get reads a list of objects into out.
func (c *Client) Get(ctx context.Context, out any, args ...string) error {
	text, _, err := c.Run(ctx, nil, append([]string{"get", "--output", "json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading the output of kubectl get: %w", err)
	}
	return nil
}

// Patch merges changes into an object as kubectl patch does, without a cluster: with a strategic merge if
// kubectl knows the kind, else with a JSON merge.
func (c *Client) Patch(ctx context.Context, o, changes Object) (Object, error) {
	file, err := temporary(changes) // not in arguments, as it may have secrets
	if err != nil {
		return nil, err
	}
	defer os.Remove(file)
	local := &Client{Program: c.Program, Missing: c.Missing}
	var out []byte
	for _, kind := range []string{"strategic", "merge"} {
		out, _, err = local.Run(ctx, Documents([]Object{o}), "patch", "--local", "--filename", "-", "--output", "json",
			"--type", kind, "--patch-file", file)
		if err == nil || !strings.Contains(err.Error(), "patch is not supported for") {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	documents, err := yamlsyntax.ReadData(out, "the output of kubectl patch") // keeps integers
	if err == nil && len(documents) == 1 {
		if patched, ok := documents[0].(Object); ok {
			return patched, nil
		}
	}
	return nil, errors.Join(errors.New("the output of kubectl patch is not an object"), err)
}

// temporary writes an object into a temporary file with mode 0600.
func temporary(o Object) (string, error) {
	f, err := os.CreateTemp("", "weir-patch-")
	if err != nil {
		return "", err
	}
	err = errors.Join(json.NewEncoder(f).Encode(o), f.Close())
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
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
