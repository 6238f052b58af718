package workload_test

import (
	"slices"
	"strings"
	"testing"
	"weir/workload"
)

func TestParseParams(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []workload.Param
		wrong string
	}{
		{"", nil, ""},
		{"  ", nil, ""},
		{"num_workers=2", []workload.Param{{"num_workers", "2"}}, ""},
		{" a = 1 ;b=mlx5_0,mlx5_1; c.d-e=", []workload.Param{{"a", "1"}, {"b", "mlx5_0,mlx5_1"}, {"c.d-e", ""}}, ""},
		{"num_workers", nil, `"num_workers" is not key=value`},
		{"a=1;", nil, `"" is not key=value`},
		{"=1", nil, `"" is no name of a parameter`},
		{"a b=1", nil, `"a b" is no name`},
		{"a=1;a=2", nil, "a is set twice"},
		{"a=1,b=2", nil, "between two parameters there is a semicolon"},
		{"a=1\n", []workload.Param{{"a", "1"}}, ""},
		{"a=1\n2", nil, "control character"},
	} {
		got, err := workload.ParseParams(c.text)
		if c.wrong == "" && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%q reads as %+v, %v", c.text, got, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

func FuzzParseParams(f *testing.F) {
	f.Add("num_workers=2; ucx_devices=mlx5_0,mlx5_1")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := workload.ParseParams(text)
		if err != nil {
			return
		}
		for _, p := range all {
			if p.Key == "" || strings.ContainsAny(p.Key+p.Value, "\n=;\x00") {
				t.Errorf("%q reads as %+v", text, p)
			}
		}
	})
}
