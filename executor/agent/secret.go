package agent

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"weir/redact"
)

// filePrefix marks a reference to a secret that stands in a file.
const filePrefix = "file:"

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
	case len(value) < redact.Least:
		return "", fmt.Errorf("secret %s: its value is too short to redact: it needs at least %d characters", reference,
			redact.Least)
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

// hidden reads the secrets to redact. One that is not here cannot show here.
func (a *Agent) hidden(references []string) redact.Values { return a.vault.hidden(references) }

func (v vault) hidden(references []string) redact.Values {
	var secrets []string
	for _, r := range references {
		if value, err := v.resolve(r); err == nil {
			secrets = append(secrets, value)
		}
	}
	return redact.Of(secrets...)
}

// HiddenHere are the values to redact in what this process reads itself, as logs of pods.
func HiddenHere(references []string) redact.Values { return vault{anywhere: true}.hidden(references) }

// redactLines redacts lines that were redacted as a whole before: cutting them to
// length may not bring anything back, but a failure's log is read by everybody.
func redactLines(h redact.Values, list []string) []string {
	for i, line := range list {
		list[i] = h.Text(line)
	}
	return list
}

// redacted is where a process writes what is kept in a file: the file itself, or what redacts in
// front of it.
func redacted(h redact.Values, file *os.File) io.WriteCloser {
	if len(h) == 0 {
		return file
	}
	return &redactedFile{h.Writer(file), file}
}

type redactedFile struct {
	*redact.Writer
	file io.Closer
}

// Close passes the rest on and closes the file.
func (r *redactedFile) Close() error { return errors.Join(r.Flush(), r.file.Close()) }
