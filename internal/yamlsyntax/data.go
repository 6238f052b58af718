package yamlsyntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"gopkg.in/yaml.v3"
)

// ReadData reads the documents of a file of another program as plain data: maps from string, []any,
// string, bool, int, int64, uint64, float64 and nil. It skips empty documents. Errors begin with
// the file's name.
func ReadData(src []byte, filename string) ([]any, error) {
	var all []any
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil {
			doc, err = plainData(doc, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filename, err)
		}
		if doc != nil {
			all = append(all, doc)
		}
	}
}

// plainData converts the result of yaml.v3 to types that JSON also has.
func plainData(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			plain, err := plainData(value, depth+1)
			if err != nil {
				return nil, err
			}
			v[key] = plain
		}
	case map[any]any: // also for keys with tags
		named := make(map[string]any, len(v))
		for key, value := range v {
			text, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("the key %v is not a text: write it in quotes", key)
			}
			named[text] = value
		}
		return plainData(named, depth)
	case []any:
		for i, value := range v {
			plain, err := plainData(value, depth+1)
			if err != nil {
				return nil, err
			}
			v[i] = plain
		}
	case time.Time: // JSON has no dates: 2026-01-31 is meant as a text
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly), nil
		}
		return v.Format(time.RFC3339Nano), nil
	}
	return v, nil
}

// WriteData writes plain data as documents of one file, with keys in alphabetical order.
func WriteData(documents ...any) ([]byte, error) {
	var out bytes.Buffer
	if len(documents) == 0 { // the encoder would fail
		return nil, nil
	}
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	for _, d := range documents {
		if err := enc.Encode(d); err != nil {
			return nil, fmt.Errorf("writing YAML: %w", err)
		}
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return out.Bytes(), nil
}
