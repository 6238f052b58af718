package ctperftest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// ErrExists is the error of Write for a directory that is not empty.
var ErrExists = errors.New("it is not empty")

// matrixName matches the files that Write makes, also incomplete ones, and so may remove.
var matrixName = regexp.MustCompile(`^matrix_\d+\.txt(\.tmp)?$`)

// unfinished is the name of a file until it is complete.
func unfinished(path string) string { return path + ".tmp" }

// Write creates the directory of a sequence in the published form: matrices/matrix_N.txt with cells
// formatted by size, and metadata.yaml, which gets its name last, so that a directory with it is
// complete. Its paths are relative to the directory. Write returns ErrExists for a directory that
// is not empty, unless overwrite is set: then it replaces files of this form and keeps others.
func Write(dir string, patterns []matrix.Pattern, size func(int64) string, overwrite bool) error {
	if err := prepare(dir, overwrite); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	for i, p := range patterns {
		if err := writeWhole(filepath.Join(dir, matrixFile(i)),
			func(w io.Writer) error { return p.Matrix.Write(w, size) }); err != nil {
			return fmt.Errorf("making %s: %w", matrixFile(i), err)
		}
	}
	err := writeWhole(filepath.Join(dir, MetadataFile), func(w io.Writer) error {
		_, err := w.Write(metadata(patterns))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the metadata: %w", err)
	}
	return nil
}

func matrixFile(i int) string { return fmt.Sprintf("%s/matrix_%d.txt", matrices, i) }

// prepare creates the directories and removes the files of an earlier sequence.
func prepare(dir string, overwrite bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !overwrite {
		return ErrExists
	}
	file := filepath.Join(dir, MetadataFile)
	for _, path := range []string{file, unfinished(file)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	inner := filepath.Join(dir, matrices)
	if err := os.MkdirAll(inner, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(inner)
	if err != nil {
		return err
	}
	for _, e := range old {
		if e.Type().IsRegular() && matrixName.MatchString(e.Name()) {
			if err := os.Remove(filepath.Join(inner, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWhole creates a file under its name only when it is complete.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(unfinished(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// metadata formats the YAML file as the generator does: keys in alphabetical order, numbers with
// all their digits.
func metadata(patterns []matrix.Pattern) []byte {
	var b bytes.Buffer
	b.WriteString("traffic_patterns:\n")
	for i, p := range patterns {
		fmt.Fprintf(&b, "- matrix_file: %s\n", matrixFile(i))
		if len(p.Metadata) > 0 {
			b.WriteString("  metadata:\n")
		}
		for _, f := range p.Metadata {
			fmt.Fprintf(&b, "    %s: %s\n", yamlText(f.Key), yamlText(f.Value))
		}
		if p.SleepAfter > 0 {
			fmt.Fprintf(&b, "  sleep_after_launch_sec: %s\n", seconds(p.SleepAfter))
		}
		fmt.Fprintf(&b, "  sleep_before_launch_sec: %s\n", seconds(p.SleepBefore))
	}
	return b.Bytes()
}

// seconds formats a time so that it is parsed to the same number.
func seconds(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// number matches numbers that all readers of YAML parse alike.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?$`)

// yamlText formats a text for any place in YAML, quoted if necessary.
func yamlText(text string) string {
	if number.MatchString(text) || yamlsyntax.IsPlain(text, true) && yamlsyntax.IsPlain(text, false) {
		return text
	}
	return yamlsyntax.Quote(text)
}
