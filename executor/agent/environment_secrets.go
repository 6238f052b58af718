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

	"github.com/weir-bench/weir/internal/redact"
)

const (
	filePrefix = "file:"  // of references to secrets in files
	maxSecret  = 64 << 10 // bytes of a secret's file
)

// vault reads this node's secrets.
type vault struct {
	anywhere bool   // from all files of the node
	below    string // otherwise from this directory; "": from no files
}

// resolve reads a secret: an environment variable, or for file:PATH the content of the file without a final newline.
// Errors do not contain the value.
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

// open opens a secret's file. Links may not lead out of the directory.
func (v vault) open(path string) (*os.File, error) {
	if v.anywhere {
		return openFile(path)
	}
	if v.below == "" {
		return nil, errors.New("this agent takes no files for secrets: the node's owner can start it with --secrets DIR, which has them")
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

// readRegular reads a regular file of up to most bytes.
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

func (v vault) problems(references []string) []string {
	var all []string
	for _, r := range references {
		if _, err := v.resolve(r); err != nil {
			all = append(all, err.Error())
		}
	}
	return all
}

// hidden reads the secrets to redact that are on this node.
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

// HiddenHere are the secrets of this host to redact, for logs that no agent writes.
func HiddenHere(references []string) redact.Values { return vault{anywhere: true}.hidden(references) }

// redactLines redacts lines of a redacted log again, in case cutting them revealed anything.
func redactLines(h redact.Values, list []string) []string {
	for i, line := range list {
		list[i] = h.Text(line)
	}
	return list
}

// redacted writes to a file, through redaction if there are secrets.
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

// Close writes the rest and closes the file.
func (r *redactedFile) Close() error { return errors.Join(r.Flush(), r.file.Close()) }
