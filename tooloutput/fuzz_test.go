package tooloutput

import (
	"bytes"
	"testing"
)

// fuzzFormat looks for outputs of a format that its reader panics at, or of which it
// gives rows that a caller may not rely on.
func fuzzFormat(f *testing.F, format Format) {
	for _, text := range outputs(f, format.Name) {
		f.Add(text)
		f.Add(text[:len(text)/2])
		f.Add(bytes.ReplaceAll(text, []byte("."), []byte("-")))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		if found, err := format.Read(output); err == nil {
			checkRows(t, format, found)
		}
	})
}

func FuzzNixlbench(f *testing.F)   { fuzzFormat(f, nixlbench) }
func FuzzUCXPerftest(f *testing.F) { fuzzFormat(f, ucxPerftest) }

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
func FuzzFabtests(f *testing.F)  { fuzzFormat(f, fabtests) }
func FuzzPerftest(f *testing.F)  { fuzzFormat(f, perftest) }
func FuzzNCCLTests(f *testing.F) { fuzzFormat(f, ncclTests) }
func FuzzIperf3(f *testing.F)    { fuzzFormat(f, iperf3) }
func FuzzFio(f *testing.F)       { fuzzFormat(f, fio) }
func FuzzAiperf(f *testing.F)    { fuzzFormat(f, aiperf) }
func FuzzVLLMBench(f *testing.F) { fuzzFormat(f, vllmBench) }
func FuzzGuidellm(f *testing.F)  { fuzzFormat(f, guidellm) }
