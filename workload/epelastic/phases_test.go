package epelastic

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// Plans of NIXL's elastic test.
var plans = map[string]string{
	"no_expansion":                `[[0, 1, 2, 3]]`,
	"single_rank":                 `[[0]]`,
	"single_expansion":            `[[0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7]]`,
	"double_expansion":            `[[0, 1, 2, 3], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7]]`,
	"expansion_contraction":       `[[0,1,2,3],[0,1,2,3,4,5,6,7],[0,1,2,3,4,-6,7],[0,1,2,3,4,5,6,7]]`,
	"expansion_fault_contraction": `[[0, 1], [0, 1, 2, 3], [0, 1, -2, 3], [0, 3]]`,
}

func TestPlans(t *testing.T) {
	for name, text := range plans {
		if _, err := ParsePlan([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := ParsePlan([]byte(plans["expansion_contraction"]))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Structure().JSON(); got != `[{"ranks":["0..3"]},{"ranks":["0..7"]},`+
		`{"ranks":["0..4","7"],"kill":["6"],"at":"dispatch"},{"ranks":["0..7"]}]` {
		t.Error(got)
	}
	for _, c := range []struct {
		what string
		got  []int
		want []int
	}{
		{"joined 0", p.Joined(0), nil}, {"joined 1", p.Joined(1), []int{4, 5, 6, 7}}, {"left 2", p.Left(2), []int{5}},
		{"survivors 2", p.Survivors(2), []int{0, 1, 2, 3, 4, 7}}, {"joined 3", p.Joined(3), []int{5, 6}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, not %v", c.what, c.got, c.want)
		}
	}
	lives := p.Lives()
	for rank, want := range map[int][]workload.Life{
		0: {{First: 0, Last: 3}}, 4: {{First: 1, Last: 3}}, 5: {{First: 1, Last: 2}, {First: 3, Last: 3}},
		6: {{First: 1, Last: 2, Killed: true}, {First: 3, Last: 3}},
	} {
		if !slices.Equal(lives[rank], want) {
			t.Errorf("rank %d has %+v, not %+v", rank, lives[rank], want)
		}
	}
}

// A case has room for all ranks of all phases, of either option.
func TestRanksOfACase(t *testing.T) {
	plan, err := canonicalPlan(base64.StdEncoding.EncodeToString([]byte(plans["single_expansion"])))
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[int]option.Values{
		5: {"phases": `[{"ranks":"0..4"},{"kill":"4"}]`}, 8: {"plan": plan}, 1: {"plan": ""},
	} {
		if got := Kind.Ranks(func(option string) any { return v[option] }); got != want {
			t.Errorf("%v: %d ranks, not %d", v, got, want)
		}
	}
}

func TestBadPlans(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                      "a JSON list of phases",
		`[]`:                      "0 phases",
		`[[0, 1], [-0, 1]]`:       "rank 0 is missing",
		`[[0, 1], [0, -1, 1]]`:    "phase 1 has rank 1 twice",
		`[[0, 1], [0, -2]]`:       "rank 2 is killed or muted, and is not in the group",
		`[[0, -1]]`:               "the first phase forms the group",
		`[[0, 2]]`:                "rank 1 is in no phase",
		`[[0, 1], []]`:            "leaves no rank",
		`[[0, 1.5]]`:              "is no rank",
		`[[0, 100000]]`:           "is no rank",
		`[[0, 1], [0, 1], ["a"]]`: "JSON list",
	} {
		if p, err := ParsePlan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
}

func TestPhases(t *testing.T) {
	for text, want := range map[string]string{
		`[{"ranks":"0..3"},{"kill":["1","2"],"at":"combine"}]`: `[{"ranks":["0..3"]},{"ranks":["0","3"],` +
			`"kill":["1","2"],"at":"combine"}]`,
		`[{"ranks":["0","1","2"]},{"leave":"1"}]`: `[{"ranks":["0..2"]},{"ranks":["0","2"]}]`,
		`[{"ranks":["0..2"]},{"ranks":["0"],"leave":["1"],"mute":"2"}]`: `[{"ranks":["0..2"]},{"ranks":["0"],` +
			`"mute":["2"],"at":"dispatch"}]`,
	} {
		got, err := canonicalPhases(text)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if again, err := canonicalPhases(got); again != got {
			t.Errorf("%s becomes %s: %v", got, again, err)
		}
	}
	for text, want := range map[string]string{
		`{}`:                             "a list with a mapping for each phase",
		`["0..3"]`:                       "a phase is a mapping",
		`[{}]`:                           "the first phase needs ranks",
		`[{"ranks":"0..3"},{}]`:          "no rank joins, leaves",
		`[{"ranks":"0..3","grow":"1"}]`:  `there is no "grow"`,
		`[{"ranks":"3..0"}]`:             "is no rank from 0",
		`[{"ranks":["0","0"]}]`:          "given twice",
		`[{"ranks":[]}]`:                 "has no ranks",
		`[{"ranks":"0..1","at":"idle"}]`: "no rank is killed or muted",
		`[{"ranks":"0..1"},{"kill":"1","at":"there"}]`:    "is not one of dispatch",
		`[{"ranks":"0..2"},{"ranks":"0..1","leave":"1"}]`: "rank 1 leaves",
		`[{"ranks":"0..3"},{"ranks":"0..1","leave":"2"}]`: "rank 3 is not in it",
		`[{"ranks":"0..1"},{"ranks":"0..1","kill":"1"}]`:  "and also in ranks",
		`[{"ranks":"0..1"},{"kill":"1","mute":"1"}]`:      "killed or muted twice",
		`[{"ranks":"1..2"}]`:                              "rank 0 is missing",
		`[{"ranks":{"a":"1"}}]`:                           "not a mapping",
	} {
		if got, err := canonicalPhases(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// Equal groups have equal routes; tokens select different experts of their group only.
func TestTable(t *testing.T) {
	s, err := Decode(option.Values{
		"fabric": "tcp", "tokens": int64(16), "top_k": int64(4),
		"phases": `[{"ranks":["0..3"]},{"ranks":["0","2"],"kill":["1","3"],"at":"idle"},{"ranks":["0..3"]}]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range s.Groups() {
		table, err := s.Table(group)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := s.Table(group)
		if table.Digest() != again.Digest() {
			t.Errorf("%v has other routes again", group)
		}
		for rank, list := range table.Experts {
			if in := slices.Contains(group, rank); in != (len(list) > 0) {
				t.Errorf("rank %d of %v has %d selections", rank, group, len(list))
			}
			for i := 0; i < len(list); i += table.TopK {
				token := slices.Sorted(slices.Values(list[i : i+table.TopK]))
				if len(slices.Compact(token)) != 4 {
					t.Errorf("a token selects %v", list[i:i+table.TopK])
				}
				for _, e := range token {
					if !slices.Contains(group, table.RankOf(int(e))) {
						t.Errorf("expert %d is of no rank of %v", e, group)
					}
				}
			}
		}
	}
	if len(s.Groups()) != 2 {
		t.Errorf("groups %v", s.Groups())
	}
}
