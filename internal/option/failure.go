package option

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// SimFailure is one kind of failure that fabric sim simulates.
type SimFailure struct {
	Launch int              `json:"launch"` // index; -1: every launch, with probability Share
	Share  quantity.Percent `json:"share,omitempty"`
	Rank   int              `json:"rank"` // -1: any
	Phase  string           `json:"phase"`
	Kind   string           `json:"kind,omitempty"` // "": the usual kind of the phase
}

// The words of sim_failure. Kinds are those of results.Failure.
var (
	failurePhases = []string{"ready", "connect", "verify", "run", "teardown"}
	failureKinds  = []string{"crash", "timeout", "lost", "fault", "wrong"}
)

// ParseFailures reads "launch 2 rank 1 run", "10% connect", or several separated by commas. By
// default the rank is any, and the phase is run.
func ParseFailures(text string) ([]SimFailure, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all []SimFailure
	for part := range strings.SplitSeq(text, ",") {
		f, err := parseFailure(strings.Fields(part))
		if err != nil {
			return nil, fmt.Errorf("%q: %w; write it like \"launch 2 rank 1 run\" or \"10%% connect\"",
				strings.TrimSpace(part), err)
		}
		all = append(all, f)
	}
	return all, nil
}

func parseFailure(words []string) (SimFailure, error) {
	f := SimFailure{Launch: -1, Rank: -1}
	if len(words) == 0 {
		return f, fmt.Errorf("a failure between commas is empty")
	}
	words, err := f.when(words)
	for len(words) > 0 && err == nil {
		words, err = f.what(words)
	}
	if f.Phase == "" {
		f.Phase = "run"
	}
	return f, err
}

// when reads which launches fail and returns the remaining words.
func (f *SimFailure) when(words []string) ([]string, error) {
	if words[0] == "launch" {
		n, err := number(words)
		f.Launch = n
		return words[min(2, len(words)):], err
	}
	if !strings.HasSuffix(words[0], "%") {
		return nil, fmt.Errorf("it must begin with launch N or P%%")
	}
	p, err := quantity.ReadPercent(words[0])
	if err == nil && (p <= 0 || p > 1) {
		err = fmt.Errorf("%s must be above 0%% and at most 100%%", words[0])
	}
	f.Share = p
	return words[1:], err
}

// what reads a rank, a phase or a kind and returns the remaining words.
func (f *SimFailure) what(words []string) ([]string, error) {
	switch w := words[0]; {
	case w == "rank" && f.Rank < 0:
		n, err := number(words)
		f.Rank = n
		return words[min(2, len(words)):], err
	case slices.Contains(failurePhases, w) && f.Phase == "":
		f.Phase = w
	case slices.Contains(failureKinds, w) && f.Kind == "":
		f.Kind = w
	default:
		return nil, fmt.Errorf("unexpected %q: after launch N or P%% come rank R, one phase (%s) and one kind (%s)",
			w, strings.Join(failurePhases, ", "), strings.Join(failureKinds, ", "))
	}
	return words[1:], nil
}

// number reads the count that follows a word.
func number(words []string) (int, error) {
	if len(words) < 2 {
		return -1, fmt.Errorf("%s has no number", words[0])
	}
	n, err := strconv.ParseUint(words[1], 10, 31)
	if err != nil {
		return -1, fmt.Errorf("%s %q is not a whole number", words[0], words[1])
	}
	return int(n), nil
}
