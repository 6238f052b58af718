package importer_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// Arrays with names, elements of arrays and the values of GNU parallel are known.
func TestArraysAndParallel(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw -s "
	for _, c := range []struct{ script, want string }{
		{"declare -A a=([x]=8 [y]=4); for k in ${!a[@]}; do " + u + "${a[$k]}; done", "8 4"},
		{`declare -A a; a[x]=8; a["y z"]=4; k="y z"; ` + u + `"${a[$k]}"; ` + u + `${a[x]}`, "4 8"},
		{"declare -A a=([x]=8 [y]=4); " + u + "${#a[@]}; " + u + "$((${#a[@]} * 4))", "2 8"},
		{"declare -A a=([x]=8); a+=([y]=4); a[x]=2; for s in \"${a[@]}\"; do " + u + "$s; done", "2 4"},
		{"declare -A a=([x]=8); declare -A a=([y]=4); " + u + "${a[x]}", "-s needs a value"},
		{"f() { local -A a=([x]=8); " + u + "${a[x]}; }; f; " + u + "${a[x]}", `"${a[x]}"`},
		{"declare -A a=([x]=$(cat f)); " + u + "${a[x]}", `"${a[x]}"`},
		{"declare -A a=([x]=8); if q; then a[x]=4; fi; " + u + "${a[x]}", `"${a[x]}"`},
		{"a[0]=8; a[1]=4; a[0]=2; for s in ${a[@]}; do " + u + "$s; done", "2 4"},
		{"a[5]=8; a[9]=4; for i in ${!a[@]}; do " + u + "${a[i]}$i; done", "85 49"},
		{"parallel " + u + "{} ::: 4 8", "4 8"},
		{"parallel -j1 '" + u + "{1}{2}' ::: 4 8 ::: 1 2", "41 42 81 82"},
		{"parallel --link " + u + "{1}{2} ::: 4 8 ::: 1 2", "41 82"},
		{"parallel -k --jobs=2 " + u + "{2}{1} ::: 4 8 :::+ 1 2", "14 28"},
		{"parallel " + u + " ::: 4 8; parallel ::: '" + u + "16'", "4 8 16"},
		{"printf '%s\\n' 4 8 | parallel -N1 " + u + "{}", "4 8"},
		{"parallel " + u + "{3} ::: 4", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel --link " + u + "{1}{2} ::: 4 8 ::: 1", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel -a sizes " + u + "{}", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel " + u + "{} ::: $SIZES", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel " + u + "{.} ::: 4.x", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel --nosuch " + u + "{} ::: 4", "x.sh:1: it names ucx_perftest, but weir does not know what parallel does"},
		{"parallel -j", "no call of a benchmark"},
	} {
		if got := sizesOf(t, c.script); got != c.want && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
	}
	made := scenarioOf(t, "parallel "+u+"{} ::: 4 8", importer.Options{}, []string{
		"parallel runs commands together; the scenario runs them one after another", "block_size: [4B, 8B]",
	})
	if f := made.Fates; len(f) != 1 || f[0].Line != 1 || !strings.HasPrefix(f[0].Became, "run ") {
		t.Errorf("fates: %+v", f[0])
	}
	_, err := importer.Script("x.sh", "\nparallel ib_atomic_bw -s {} h ::: 8\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:2: ib_atomic_bw: ") {
		t.Errorf("the line of a command of parallel: %v", err)
	}
}

// A file that lies beside the script is read where the script reads it.
func TestSourcedFiles(t *testing.T) {
	files := map[string]string{
		"dir/env.sh":     "S=8\nexport T=a\nbench() {\n\n\n  ucx_perftest h -t tag_bw -s $1 --nosuch$2; }\n",
		"dir/lib/b.sh":   "S=16\n[ -n \"$1\" ] && S=$1\n",
		"dir/broken.sh":  "if\n",
		"dir/itself.sh":  ". ./itself.sh\nS=4\n",
		"/etc/bench.env": "S=32\n",
		"dir/binary.sh":  "S=\x00",
	}
	o := importer.Options{Memory: "dram", Read: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	const u = "\nucx_perftest h -t tag_bw -s $S\n"
	for script, want := range map[string]string{
		"source env.sh" + u:                               "block_size: 8B",
		". ./env.sh; S=${S}0" + u:                         "block_size: 80B",
		`. "$(dirname "$0")/env.sh"` + u:                  "T: a",
		`. "$(dirname "${BASH_SOURCE[0]}")/lib/b.sh"` + u: "block_size: 16B",
		`. ${HERE}/lib/b.sh 2` + u:                        "block_size: 2B",
		". /etc/bench.env" + u:                            "block_size: 32B",
		". env.sh; . env.sh" + u:                          "block_size: 8B",
		". itself.sh" + u:                                 "block_size: 4B",
		". broken.sh" + u:                                 `x.sh:2: -s: "$S"`,
		". binary.sh" + u:                                 `x.sh:2: -s: "$S"`,
		"S=2; . nofile.sh" + u:                            `x.sh:2: -s: "$S"`,
		". $CONF" + u:                                     `x.sh:2: -s: "$S"`,
		". env.sh\nbench 8 x":                             "dir/x.sh:2: ucx_perftest has no flag --nosuchx",
	} {
		made, err := importer.Script("dir/x.sh", script+"\n", o)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if made != nil {
			got += string(made.Scenario)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q:\n%s", script, want, got)
		}
	}
	made, err := importer.Script("dir/x.sh", "S=1\n. env.sh\n. broken.sh\n. nofile.sh\nS=2"+u, o)
	if err != nil {
		t.Fatal(err)
	}
	var became []string
	for _, f := range made.Fates {
		if f.Line == 2 || f.Line == 3 || f.Line == 4 {
			became = append(became, f.Became)
		}
	}
	got := strings.Join(became, "\n")
	for _, want := range []string{
		"reads dir/env.sh\n", "nothing: dir/broken.sh is not read: ",
		"nothing: weir reads a file that lies beside the script",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q:\n%s", want, got)
		}
	}
}
