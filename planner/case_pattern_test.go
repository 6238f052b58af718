package planner

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Axes of a selector may have any order, and a selector without match is reported with the nearest
// key.
func TestSelectorsOfAxesInAnyOrder(t *testing.T) {
	const a, b, c = "bw[block_size=4KiB,fabric=shm,op=read]", "bw[block_size=4KiB,fabric=tcp,op=read]",
		`kv[variant="Baseline UCX"]`
	keys := []string{a, b, c, "kv[variant=NIXL]", "one"}
	for text, want := range map[string][]string{
		"bw[fabric=shm,*]":                    {a},
		"bw[*,fabric=shm]":                    {a},
		"bw[op=read,fabric=tcp,*]":            {b},
		"bw[op=read,block_size=4KiB,*]":       {a, b},
		"bw[op=r*,*]":                         {a, b},
		"bw[op=read,fabric=shm,block_size=*]": {a},
		"b*[fabric=*,*]":                      {a, b},
		"bw[fabric=shm]":                      nil,
		"bw[fabric=ucx,*]":                    nil,
		"bw[size=4KiB,*]":                     nil,
		`kv[variant="Baseline UCX"]`:          {c},
		"kv[variant=Baseline UCX]":            {c},
		"kv[variant=Base*]":                   {c},
		"kv[*]":                               {c, "kv[variant=NIXL]"},
		"*UCX*":                               {c},
		"one":                                 {"one"},
		"on[*]":                               nil,
	} {
		s, err := ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, key := range keys {
			run, _, _ := strings.Cut(key, "[")
			if ok, err := s.matches(&Case{Run: run, Key: key}); err != nil {
				t.Fatal(err)
			} else if ok {
				got = append(got, key)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	p := &Plan{}
	for _, key := range keys {
		run, _, _ := strings.Cut(key, "[")
		p.Cases = append(p.Cases, &Case{Run: run, Key: key, Status: Planned})
	}
	for text, want := range map[string]string{
		"bw[fabric=shm]": a, "bw[fabric=tcp,op=write,*]": b, "bw[size=4KiB,fabric=tcp,*]": b,
		"kv[variant=NIX]":                  "kv[variant=NIXL]",
		"bw[size=4KiB,fabrik=tcp,op=read]": b,
		"onee":                             "one",
	} {
		s, _ := ParseSelector(text)
		if _, err := p.pick([]Selector{s}); !errors.Is(err, ErrNothing) ||
			!strings.Contains(err.Error(), strconv.Quote(want)) {
			t.Errorf("%s: %v, want the nearest %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"bw[size=4KiB,*]":      ": there is no axis size, the axes are block_size, fabric, op; the runs",
		"bw[*,fabric=ucx]":     ": the values of fabric are shm, tcp; the runs",
		"bw[fabric=shm]":       ": with the other axes left out it ends with ,*]; the runs",
		"kv[variant=Baseline]": ": the values of variant are Baseline UCX, NIXL; the runs",
		"other[fabric=shm]":    `no case matches "other[fabric=shm]"; the runs`,
		"bw[fabric=shm":        "which has an unclosed [",
	} {
		s, _ := ParseSelector(text)
		if _, err := p.pick([]Selector{s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestSelectorsNameAnAxisOnce(t *testing.T) {
	if _, err := ParseSelector("p[op=read,op=write]"); err == nil || !strings.Contains(err.Error(),
		"op is named twice") {
		t.Error(err)
	}
}
