package ctperftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// matrixName are the files that Write makes, and so those that it may remove.
var matrixName = regexp.MustCompile(`^matrix_\d+\.txt$`)

// Write makes the directory of a sequence in the published form: matrices/matrix_N.txt,
// each cell as size spells it, and metadata.yaml, which comes last, so that a
// directory that has it is whole. Paths in it are relative to it. A directory that
// has anything in it is ErrExists unless overwrite is set: then the files of this
// form are replaced and others stay.
func Write(dir string, patterns []matrix.Pattern, size func(int64) string, overwrite bool) error {
	if err := prepare(dir, overwrite); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	for i, p := range patterns {
		if err := writeMatrix(filepath.Join(dir, matrixFile(i)), p.Matrix, size); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, MetadataFile), metadata(patterns), 0o644); err != nil {
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
	if err := os.Remove(filepath.Join(dir, MetadataFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
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

func writeMatrix(path string, m *matrix.Matrix, size func(int64) string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing a matrix: %w", err)
	}
	return errors.Join(m.Write(f, size), f.Close())
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

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// yamlText writes a text so that YAML reads it back wherever it stands, with
// quotes where it needs them.
func yamlText(text string) string {
	if number.MatchString(text) || yamlsyntax.IsPlain(text, true) && yamlsyntax.IsPlain(text, false) {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
