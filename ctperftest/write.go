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

	"weir/dsl/yamlsyntax"
	"weir/matrix"
)

// ErrExists is what Write says of a directory that has something in it.
var ErrExists = errors.New("there is something in it already")

// matrixName are the files that Write makes, and so those that it may remove, as is
// what it left of one when it was killed.
var matrixName = regexp.MustCompile(`^matrix_\d+\.txt(\.tmp)?$`)

// unfinished is what a file is called until it is whole.
func unfinished(path string) string { return path + ".tmp" }

// Write makes the directory of a sequence in the published form: matrices/matrix_N.txt,
// each cell as size spells it, and metadata.yaml, which gets its name last, so that
// a directory that has it is whole. Paths in it are relative to it. A directory that
// has anything in it is ErrExists unless overwrite is set: then the files of this
// form are replaced and others stay.
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

// prepare makes the directories and removes what an earlier sequence left.
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

// writeWhole makes a file that has its name only once all is in it.
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

// metadata writes the YAML file by hand: its layout is that of the generator, keys
// in alphabetical order, and every number keeps its digits.
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

// seconds writes a time so that it reads back as the same number.
func seconds(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// number is what all readers of YAML take for the same number.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?$`)

// yamlText writes a text so that YAML reads it back wherever it stands, with
// quotes where it needs them.
func yamlText(text string) string {
	if number.MatchString(text) || yamlsyntax.IsPlain(text, true) && yamlsyntax.IsPlain(text, false) {
		return text
	}
	return yamlsyntax.Quote(text)
}
