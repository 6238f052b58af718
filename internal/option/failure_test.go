package option_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
)

func TestParseFailures(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []option.SimFailure
		wrong string
	}{
		{"", nil, ""},
		{"launch 2 rank 1 run", []option.SimFailure{{Launch: 2, Rank: 1, Phase: "run"}}, ""},
		{"10% connect", []option.SimFailure{{Launch: -1, Share: 0.1, Rank: -1, Phase: "connect"}}, ""},
		{"launch 0", []option.SimFailure{{Launch: 0, Rank: -1, Phase: "run"}}, ""},
		{"1% run crash,  launch 3 lost", []option.SimFailure{{Launch: -1, Share: 0.01, Rank: -1, Phase: "run",
			Kind: "crash"}, {Launch: 3, Rank: -1, Phase: "run", Kind: "lost"}}, ""},
		{"launch", nil, "launch has no number"},
		{"launch two", nil, `launch "two" is not a whole number`},
		{"launch -1", nil, "not a whole number"},
		{"launch 1 rank", nil, "rank has no number"},
		{"launch 1 rank 1 rank 2", nil, `unexpected "rank"`},
		{"launch 1 run connect", nil, `unexpected "connect"`},
		{"launch 1 walk", nil, `unexpected "walk"`},
		{"0% run", nil, "must be above 0%"},
		{"120% run", nil, "at most 100%"},
		{"rank 1 run", nil, "must begin with"},
		{"5%,", nil, "between commas is empty"},
	} {
		got, err := option.ParseFailures(c.text)
		if c.wrong == "" {
			same := len(got) == len(c.want)
			for i := range c.want {
				same = same && got[i] == c.want[i]
			}
			if err != nil || !same {
				t.Errorf("%q reads as %+v, %v", c.text, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

func FuzzParseFailures(f *testing.F) {
	f.Add("launch 2 rank 1 run, 10% connect crash")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := option.ParseFailures(text)
		if err != nil {
			return
		}
		for _, x := range all {
			if x.Launch < -1 || x.Rank < -1 || x.Launch < 0 && !(x.Share > 0 && x.Share <= 1) || x.Phase == "" {
				t.Errorf("%q reads as %+v", text, x)
			}
		}
	})
}
