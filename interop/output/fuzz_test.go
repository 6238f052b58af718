package output

import (
	"bytes"
	"testing"
)

// FuzzFormats searches for outputs on which a reader panics, or returns rows that violate
// checkRows.
func FuzzFormats(f *testing.F) {
	for i, name := range Names() {
		for _, text := range outputs(f, name) {
			f.Add(i, text)
			f.Add(i, text[:len(text)/2])
			f.Add(i, bytes.ReplaceAll(text, []byte("."), []byte("-")))
		}
	}
	f.Fuzz(func(t *testing.T, i int, output []byte) {
		format := Formats()[uint(i)%uint(len(Names()))]
		if found, err := format.Read(output); err == nil {
			checkRows(t, format, found)
		}
	})
}

func FuzzLines(f *testing.F) {
	format, err := Lines(`(?<size>\w+)=(?<bw>\S+)`, []string{"size"}, bw)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("a=1\nb=2.5e3\n"))
	f.Fuzz(func(t *testing.T, output []byte) {
		if found, err := format.Read(output); err == nil {
			checkRows(t, format, found)
		}
	})
}

func FuzzJSONPaths(f *testing.F) {
	f.Add("a.b[*].c", "d[0]", []byte(`{"a": {"b": [{"c": 1}, {"c": 2}]}, "d": [1]}`))
	f.Add(`["a b"]`, `x["\u0041"]`, []byte(nested))
	f.Fuzz(func(t *testing.T, path, key string, output []byte) {
		format, err := JSON(map[string]string{"bw": path, "size": key}, []string{"size"}, bw)
		if err != nil {
			return
		}
		if found, err := format.Read(output); err == nil {
			checkRows(t, format, found)
		}
	})
}
