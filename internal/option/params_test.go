package option_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
)

func TestParseParams(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []option.Param
		wrong string
	}{
		{"", nil, ""},
		{"  ", nil, ""},
		{"num_workers=2", []option.Param{{"num_workers", "2"}}, ""},
		{" a = 1 ;b=mlx5_0,mlx5_1; c.d-e=", []option.Param{{"a", "1"}, {"b", "mlx5_0,mlx5_1"}, {"c.d-e", ""}}, ""},
		{"num_workers", nil, `"num_workers" is not key=value`},
		{"a=1;", nil, `"" is not key=value`},
		{"=1", nil, `"" is not a valid name of a parameter`},
		{"a b=1", nil, `"a b" is not a valid name`},
		{"a=1;a=2", nil, "a is set twice"},
		{"a=1,b=2", nil, "separate parameters by semicolons"},
		{"a=1\n", []option.Param{{"a", "1"}}, ""},
		{"a=1\n2", nil, "control character"},
	} {
		got, err := option.ParseParams(c.text)
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
		all, err := option.ParseParams(text)
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
