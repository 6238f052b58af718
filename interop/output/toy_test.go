package output

import (
	"os"
	"reflect"
	"regexp"
	"testing"
)

// TestNewToolIsOneFile reads the output of a tool that only the example in CONTRIBUTING.md describes.
func TestNewToolIsOneFile(t *testing.T) {
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```.*?```text\n(.*?)```").FindSubmatch(guide)
	if example == nil {
		t.Fatal("CONTRIBUTING.md has no example of a file and an output")
	}
	f, err := load("copybench", example[1])
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Read(example[2])
	want := []Row{
		{At: map[string]string{"block_size": "4096"}, Others: none, Line: 2,
			Values: map[string]float64{"bandwidth": 1.048576, "latency.avg": 4e-6}},
		{At: map[string]string{"block_size": "8192"}, Others: none, Line: 3,
			Values: map[string]float64{"bandwidth": 2.097152, "latency.avg": 4e-6}},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, %v, want %v", found, err, want)
	}
}

// TestFileOfTool checks that mistakes in a file of tools/ are errors.
func TestFileOfTool(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown key":      "doc: x\njson: {rowz: a}\n",
		"an unknown unit":     "json: {}\nmetrics: [{name: a, path: b, in: furlong}]\n",
		"a column's unit":     "table: {header: (a)}\nmetrics: [{name: a, columns: {b: furlong}}]\n",
		"no path":             "json: {}\nmetrics: [{name: a, path: 'b..c'}]\n",
		"no expression":       "table: {header: '('}\n",
		"an unknown function": "json: {}\nfunction: nosuch\n",
		"no reader":           "doc: x\n",
	} {
		if _, err := load("x", []byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
