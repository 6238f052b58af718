package prompt

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

var phases = []load.Phase{load.Ready, load.Warmup, load.Measured}

func TestNoTwoColdPromptsBeginAlike(t *testing.T) {
	for _, s := range []Settings{
		{Input: tokens(t, "uniform:1,8")},
		{Lines: []string{"one", "two"}},
		{Body: Body{API: Chat}, Input: tokens(t, "4")},
	} {
		seen := map[string]string{}
		for _, seed := range []uint64{1, 2} {
			for launch := range uint64(3) {
				s.Seed, s.Launch = seed, launch
				of := set(t, s)
				for _, phase := range phases {
					for i := range 3000 {
						p := read(t, of.Request(phase, i).Body)
						text := ""
						if of.API == Chat {
							text = p.Messages[0].Content
						} else {
							text = p.text(t)
						}
						name := fmt.Sprintf("seed %d, launch %d, phase %d, request %d", seed, launch, phase, i)
						if with, twice := seen[text[:16]]; twice {
							t.Fatalf("%s begins as %s: %s", name, with, text)
						}
						seen[text[:16]] = name
					}
				}
			}
		}
	}
}

func TestNoTwoColdArraysBeginAlike(t *testing.T) {
	seen := map[[idsOfNonce]int]bool{}
	for launch := range uint64(3) {
		s := set(t, Settings{Input: tokens(t, "6"), IDs: true, Launch: launch})
		for _, phase := range phases {
			for i := range 3000 {
				list := read(t, s.Request(phase, i).Body).ids(t)
				begin := [idsOfNonce]int(list)
				if seen[begin] || len(list) != 6 || slices.Min(list) < 1000 || slices.Max(list) > 30000 {
					t.Fatalf("launch %d, phase %d, request %d: %v", launch, phase, i, list)
				}
				seen[begin] = true
			}
		}
	}
}

func TestArraysHaveExactlyTheRequestedTokens(t *testing.T) {
	s := set(t, Settings{Input: tokens(t, "uniform:1,300"), IDs: true, Vocabulary: [2]int{5, 104}})
	sum := 0
	for i := range 2000 {
		r := s.Request(load.Measured, i)
		list := read(t, r.Body).ids(t)
		if len(list) != r.Input || slices.Min(list) < 5 || slices.Max(list) > 104 {
			t.Fatalf("%d ids for %d tokens, from %d to %d", len(list), r.Input, slices.Min(list), slices.Max(list))
		}
		sum += len(list)
	}
	if mean := float64(sum) / 2000; math.Abs(mean-150.5) > 8 {
		t.Errorf("%v tokens on average", mean)
	}
}

func TestTextsHaveTheWordsOfTheirTokens(t *testing.T) {
	s := set(t, Settings{Input: tokens(t, "512"), Calibration: Calibration{PerWord: 1.25, Base: 12}})
	r := s.Request(load.Measured, 3)
	// (512 - 12) / 1.25 words and a nonce
	if n := len(strings.Fields(read(t, r.Body).text(t))); n != 401 || r.Input != 512 {
		t.Errorf("%d words for %d tokens", n, r.Input)
	}
	p := s.Probe(2, 40)
	if n := len(strings.Fields(read(t, p.Body).text(t))); n != 41 || p.Phase != load.Ready ||
		read(t, p.Body).Max != 1 {
		t.Errorf("%d words in a probe: %s", n, p.Body)
	}
}

func TestGroupsShareTheirPrefixAndNothingElse(t *testing.T) {
	const words = 88 // 100 tokens less 12
	s := Settings{Input: tokens(t, "150"), Prefix: Prefix{Groups: 3, Tokens: 100}}
	for launch := range uint64(2) {
		s.Launch = launch
		of := set(t, s)
		prefixes, rests := map[string]int{}, map[string]bool{}
		for i := range 30 {
			f := strings.Fields(read(t, of.Request(load.Measured, i).Body).text(t))
			prefix := strings.Join(f[:1+words], " ")
			if g, known := prefixes[prefix]; known && g != i%3 {
				t.Errorf("request %d has the prefix of group %d", i, g)
			}
			prefixes[prefix] = i % 3
			rests[f[1+words]] = true
		}
		if len(prefixes) != 3 || len(rests) != 30 {
			t.Errorf("%d prefixes and %d nonces", len(prefixes), len(rests))
		}
	}
	s.IDs = true
	of := set(t, s)
	a, b := read(t, of.Request(load.Measured, 1).Body).ids(t), read(t, of.Request(load.Measured, 4).Body).ids(t)
	if !slices.Equal(a[:100], b[:100]) || slices.Equal(a[100:104], b[100:104]) || len(a) != 150 {
		t.Errorf("%v\n%v", a, b)
	}
	// a warm-up has other prefixes
	if w := read(t, of.Request(load.Warmup, 1).Body).ids(t); slices.Equal(a[:4], w[:4]) {
		t.Errorf("%v\n%v", a, w)
	}
}

func TestEqualBlocksOfATraceAreEqualText(t *testing.T) {
	rows := []schedule.Row{
		{Input: 512 + 10, Output: 3, Blocks: []int64{7, 8}}, // block 8 comes first as a short one
		{Input: 3 * 512, Output: 4, Blocks: []int64{7, 8, 9}},
		{Input: 512, Output: 5, Blocks: []int64{8}},
	}
	s := set(t, Settings{Rows: rows, Prefix: Prefix{Traced: true}, IDs: true})
	var list [][]int
	for i, row := range rows {
		r := s.Request(load.Measured, i)
		list = append(list, read(t, r.Body).ids(t))
		if len(list[i]) != row.Input || r.Input != row.Input || r.Output != row.Output {
			t.Errorf("request %d: %d ids, input %d, output %d", i, len(list[i]), r.Input, r.Output)
		}
	}
	if !slices.Equal(list[0], list[1][:522]) || !slices.Equal(list[1][512:1024], list[2]) {
		t.Error("equal ids have different tokens")
	}
	if slices.Equal(list[1][:512], list[1][512:1024]) {
		t.Error("different ids have equal tokens")
	}
	// as words, of 2 tokens each
	s = set(t, Settings{Rows: rows, Prefix: Prefix{Traced: true}, Calibration: Calibration{PerWord: 2}})
	short, long := read(t, s.Request(load.Measured, 0).Body).text(t),
		read(t, s.Request(load.Measured, 1).Body).text(t)
	if !strings.HasPrefix(long, short+" ") || len(strings.Fields(short)) != 256+5 ||
		len(strings.Fields(long)) != 3*256 {
		t.Errorf("%d and %d words", len(strings.Fields(short)), len(strings.Fields(long)))
	}
}

func TestLinesOfAFile(t *testing.T) {
	lines, err := ReadPrompts([]byte("\uFEFFone\r\n\n two \nbad \xff\n"))
	if want := []string{"one", "two", "bad \uFFFD"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
	for _, content := range []string{"", "\n \n", strings.Repeat("x", maxLine+1)} {
		if _, err := ReadPrompts([]byte(content)); err == nil {
			t.Errorf("%d bytes are prompts", len(content))
		}
	}
	s := set(t, Settings{Lines: []string{"a", "b", "c"}})
	used := map[string]int{}
	for i := range 9 {
		used[read(t, s.Request(load.Measured, i).Body).text(t)[17:]]++
	}
	if used["a"] != 3 || used["b"] != 3 || used["c"] != 3 {
		t.Errorf("%v", used)
	}
}
