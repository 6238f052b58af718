package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/weir-bench/weir/internal/datafile"
)

func unchanged(output []byte) ([]byte, error) { return output, nil }

// fromYAML makes JSON of a document in YAML; one in JSON stays.
func fromYAML(output []byte) ([]byte, error) {
	text := bytes.TrimSpace(output)
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return output, nil
	}
	if _, err := textLines(output); err != nil {
		return nil, err
	}
	all, err := datafile.Values(output)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor YAML: %w", err)
	}
	var b bytes.Buffer
	for _, one := range all {
		line, err := json.Marshal(jsonable(one))
		if err != nil {
			return nil, fmt.Errorf("this YAML has no form in JSON: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

// jsonable replaces numbers that JSON does not have by the texts that stand for them.
func jsonable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = jsonable(v[k])
		}
	case []any:
		for i := range v {
			v[i] = jsonable(v[i])
		}
	case float64:
		switch {
		case math.IsNaN(v):
			return nil // Python's word for no value
		case math.IsInf(v, 0):
			return noNumeralMark + strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		}
	}
	return v
}
