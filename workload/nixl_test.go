package workload

import (
	"slices"
	"strings"
	"testing"

	"weir/quantity"
)

func TestParseParams(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []Param
		wrong string
	}{
		{"", nil, ""},
		{"  ", nil, ""},
		{"num_workers=2", []Param{{"num_workers", "2"}}, ""},
		{" a = 1 ;b=mlx5_0,mlx5_1; c.d-e=", []Param{{"a", "1"}, {"b", "mlx5_0,mlx5_1"}, {"c.d-e", ""}}, ""},
		{"num_workers", nil, `"num_workers" is not key=value`},
		{"a=1;", nil, `"" is not key=value`},
		{"=1", nil, `"" is no name of a parameter`},
		{"a b=1", nil, `"a b" is no name`},
		{"a=1;a=2", nil, "a is set twice"},
		{"a=1,b=2", nil, "between two parameters there is a semicolon"},
		{"a=1\n", []Param{{"a", "1"}}, ""},
		{"a=1\n2", nil, "control character"},
	} {
		got, err := ParseParams(c.text)
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
		all, err := ParseParams(text)
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

func TestDecodeNixl(t *testing.T) {
	v := Values{"fabric": NixlFabric, "block_size": quantity.Size(8), "nixl_params": "num_workers=2", "nixl_merge": true, "nixl_recreate": true, "nixl_prepared": true}
	o, err := DecodeTransfer(v)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.Nixl; n == nil || n.Backend != "UCX" || !slices.Equal(n.Params, []Param{{"num_workers", "2"}}) || !n.Merge || !n.Recreate || !n.Prepared || n.Reregister || n.ProgressThread {
		t.Errorf("decoded as %+v", o.Nixl)
	}
	if o, err := DecodeTransfer(Values{"fabric": "ucx", "block_size": quantity.Size(8)}); err != nil || o.Nixl != nil {
		t.Errorf("fabric ucx has %+v, %v", o.Nixl, err)
	}
	for want, change := range map[string]Values{
		"which is no name of a backend":              {"nixl_backend": "../UCX"},
		"option nixl_backend is \"\"":                {"nixl_backend": ""},
		"option nixl_merge is string, not a bool":    {"nixl_merge": "true"},
		"option nixl_recreate is int64, not a bool":  {"nixl_recreate": int64(1)},
		"option nixl_params: \"x\" is not key=value": {"nixl_params": "x"},
		"exclude each other":                         {"nixl_prepared": true, "nixl_reregister": true, "in_flight": int64(1)},
		"nixl_reregister needs in_flight 1, not 16":  {"nixl_reregister": true},
	} {
		bad := Values{"fabric": NixlFabric, "block_size": quantity.Size(8)}
		for name, value := range change {
			bad[name] = value
		}
		if _, err := DecodeTransfer(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
}
