package planner

import (
	"errors"
	"strings"
	"testing"
)

const taggedRuns = "scenario: s\ntags: [nightly]\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}, " +
	"tags: [quick]}\n  b: {workload: transfer, options: {block_size: 8KiB}}\n"

func TestTagsSelectRuns(t *testing.T) {
	for _, c := range []struct{ only, skip, want string }{
		{"tag:quick", "", "a"}, {"tag:nightly", "", "a b"}, {"", "tag:quick", "b"}, {"", "tag:other", "a b"},
		{"tag:nightly", "tag:quick", "b"},
	} {
		p := build(t, taggedRuns)
		if err := p.Select(parse(t, c.only), parse(t, c.skip)); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, k := range p.Cases {
			if k.Status == Planned {
				left = append(left, k.Key)
			}
		}
		equal(t, c.only+" without "+c.skip, strings.Join(left, " "), c.want)
	}
	if err := build(t, taggedRuns).Select(parse(t, "tag:other"), nil); !errors.Is(err, ErrByTags) {
		t.Errorf("%v", err)
	}
}

func TestUnknownTagsAreErrors(t *testing.T) {
	plans := []*Plan{build(t, taggedRuns), build(t, twoRuns)}
	if err := CheckTags(parse(t, "tag:quick"), plans); err != nil {
		t.Error(err)
	}
	const want = `nothing selected: no run has the tag "quik". Did you mean "quick"? The tags are nightly, quick.`
	if err := CheckTags(parse(t, "tag:quik"), plans); !errors.Is(err, ErrNothing) || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := CheckTags(parse(t, "tag:quick"), plans[1:]); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
}

func TestATagWithoutItsPrefix(t *testing.T) {
	err := build(t, taggedRuns).Select(parse(t, "nightly"), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "the runs are a, b; the tag is selected by tag:nightly") {
		t.Errorf("%v", err)
	}
}

// Runs with other tags are the same work.
func TestTagsAreInNoDigest(t *testing.T) {
	equal(t, "digest", build(t, taggedRuns).Digest, build(t, untaggedRuns).Digest)
}

const untaggedRuns = "scenario: s\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n" +
	"  b: {workload: transfer, options: {block_size: 8KiB}}\n"
