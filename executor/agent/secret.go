package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"weir/executor/environ"
)

// filePrefix marks a reference to a secret that stands in a file.
const filePrefix = "file:"

// minSecret is the length in bytes below which a value cannot be redacted: it
// would be found everywhere.
const minSecret = 4

// maxSecret is the length in bytes up to which a file is taken for a secret.
const maxSecret = 64 << 10

// vault is where this node's secrets are.
type vault struct {
	anywhere bool   // a file may be any of the node
	below    string // otherwise the directory that has them; "": no file is one
}

// resolve reads a secret: the environment variable of that name, or the content
// of the file of file:PATH without the line's end. Errors name the reference and
// never the value.
func (v vault) resolve(reference string) (string, error) {
	value, err := v.read(reference)
	switch {
	case err != nil:
		return "", fmt.Errorf("secret %s: %w", reference, err)
	case len(value) < minSecret:
		return "", fmt.Errorf("secret %s: its value is too short to redact: it needs at least %d characters", reference,
			minSecret)
	case strings.ContainsRune(value, 0):
		return "", fmt.Errorf("secret %s: its value holds a zero byte, which no environment variable can", reference)
	}
	return value, nil
}

func (v vault) read(reference string) (string, error) {
	path, isFile := strings.CutPrefix(reference, filePrefix)
	if !isFile {
		value, ok := os.LookupEnv(reference)
		if !ok {
			return "", errors.New("this environment variable is not set")
		}
		return value, nil
	}
	f, err := v.open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := readRegular(f, maxSecret)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}

// open opens a secret's file. Below a directory links out of it are no files of it.
func (v vault) open(path string) (*os.File, error) {
	if v.anywhere {
		return openFile(path)
	}
	if v.below == "" {
		return nil, errors.New("this agent takes no files for secrets: whoever runs the node can start it with --secrets DIR, which has them")
	}
	if filepath.IsAbs(path) {
		relative, err := filepath.Rel(v.below, path)
		if err != nil || !filepath.IsLocal(relative) {
			return nil, errors.New("this agent takes files for secrets only below the directory of its --secrets")
		}
		path = relative
	}
	root, err := os.OpenRoot(v.below)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// readRegular reads a file of at most so many bytes.
func readRegular(f *os.File, most int) ([]byte, error) {
	b, _, err := readBeginning(f, most+1)
	if err == nil && len(b) > most {
		err = fmt.Errorf("the file is longer than %d bytes", most)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// resolveAll gives environment variables the values that they refer to.
func (v vault) resolveAll(references map[string]string) (map[string]string, error) {
	values := make(map[string]string, len(references))
	for _, name := range slices.Sorted(maps.Keys(references)) {
		value, err := v.resolve(references[name])
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

// problems says what is wrong with each of the secrets that cannot be used here.
func (v vault) problems(references []string) []string {
	var all []string
	for _, r := range references {
		if _, err := v.resolve(r); err != nil {
			all = append(all, err.Error())
		}
	}
	return all
}

// hidden are the values that nothing may show that is kept, the longest first.
type hidden []string

// hidden reads the secrets to redact. One that is not here cannot show here.
func (a *Agent) hidden(references []string) hidden { return a.vault.hidden(references) }

func (v vault) hidden(references []string) hidden {
	var h hidden
	for _, r := range references {
		if value, err := v.resolve(r); err == nil {
			h = append(h, value)
			h = append(h, linesOf(value)...)
		}
	}
	slices.Sort(h)
	h = slices.Compact(h)
	slices.SortFunc(h, func(a, b string) int { return len(b) - len(a) })
	return h
}

// linesOf are the lines of a value, such as a key's, that a program may show one
// by one.
func linesOf(value string) []string {
	var all []string
	for line := range strings.Lines(value) {
		if line = strings.TrimRight(line, "\r\n"); len(line) >= minSecret {
			all = append(all, line)
		}
	}
	return all
}

func (h hidden) redact(text string) string {
	if len(h) == 0 {
		return text
	}
	var b strings.Builder
	r := redactor{hidden: h, to: &b}
	_, _ = r.Write([]byte(text)) // a strings.Builder takes everything
	_ = r.flush()
	return b.String()
}

// lines redacts lines that were redacted as a whole before: cutting them to
// length may not bring anything back, but a failure's log is read by everybody.
func (h hidden) lines(list []string) []string {
	for i, line := range list {
		list[i] = h.redact(line)
	}
	return list
}

// output is where a process writes what is kept in a file: the file itself, or a
// redactor in front of it.
func (h hidden) output(file *os.File) io.WriteCloser {
	if len(h) == 0 {
		return file
	}
	return &redactor{hidden: h, to: file, file: file}
}

// redactor passes on what it is given with every hidden value replaced, whatever
// the pieces are that it comes in.
type redactor struct {
	hidden hidden
	to     io.Writer
	file   io.Closer
	held   []byte // the end of what came, in which a value may begin
}

func (r *redactor) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	if err := r.pass(len(r.held) - len(r.hidden[0]) + 1); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass writes what was held as far as values that begin before end are complete.
func (r *redactor) pass(end int) error {
	var out []byte
	at := 0
	for at < end {
		if n := r.hidden.at(r.held[at:]); n > 0 {
			out = append(out, environ.Redacted...)
			at += n
			continue
		}
		out = append(out, r.held[at])
		at++
	}
	r.held = append(r.held[:0], r.held[at:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := r.to.Write(out)
	return err
}

// at is the length of the hidden value that the text begins with, 0 if with none.
func (h hidden) at(text []byte) int {
	for _, value := range h {
		if bytes.HasPrefix(text, []byte(value)) {
			return len(value)
		}
	}
	return 0
}

func (r *redactor) flush() error { return r.pass(len(r.held)) }

// Close passes the rest on and closes the file.
func (r *redactor) Close() error { return errors.Join(r.flush(), r.file.Close()) }

// redactJSON redacts the texts in a JSON value. What is no JSON is dropped.
func (h hidden) redactJSON(text json.RawMessage) json.RawMessage {
	if len(h) == 0 || len(text) == 0 {
		return text
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as they were written
	if d.Decode(&v) != nil {
		return nil
	}
	out, err := json.Marshal(h.redactValue(v))
	if err != nil {
		return nil
	}
	return out
}

func (h hidden) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return h.redact(v)
	case []any:
		for i := range v {
			v[i] = h.redactValue(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, value := range v {
			clean[h.redact(name)] = h.redactValue(value)
		}
		return clean
	}
	return v
}
