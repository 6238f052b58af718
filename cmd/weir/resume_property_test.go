package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// lasting is what a document says apart from when it was made, and by which of
// several sessions.
func lasting(t interface{ Fatalf(string, ...any) }, dir string) *results.Document {
	d, err := results.Read(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	begin := d.Session.Started
	d.Seal = ""
	for _, c := range d.Cases {
		c.Seal = ""
		for _, l := range c.Launches {
			l.Started, l.Resumed = time.Time{}.Add(l.Started.Sub(begin)), false
		}
	}
	for _, list := range append(verdictsOf(d.Cases), d.Assertions) {
		for _, v := range list {
			v.Message = clockTime.ReplaceAllString(v.Message, "at TIME") // of an outlier
			for _, r := range v.Reasons {
				for i := range r.Values {
					r.Values[i].Text = clockTime.ReplaceAllString(r.Values[i].Text, "at TIME")
				}
			}
		}
	}
	s := d.Session
	d.Session = results.Session{Status: s.Status, ExitCode: s.ExitCode, Reason: s.Reason, Simulated: s.Simulated}
	return d
}

var clockTime = regexp.MustCompile(`at \d\d:\d\d:\d\dZ`)

func verdictsOf(cases []*results.Case) (out [][]*results.AssertionVerdict) {
	for _, c := range cases {
		out = append(out, c.Assertions)
	}
	return out
}

// quietly runs a command line in this process.
func quietly(args ...string) int { return execute(args, io.Discard, io.Discard) }

// TestResumingAnyPrefixOfARandomSession: whatever a session is made of and
// wherever it was cut off, even twice, going on with it gives every launch,
// number, verdict and exit code that it would have had.
func TestResumingAnyPrefixOfARandomSession(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	root, err := os.MkdirTemp("/dev/shm", "weir-resume") // sessions sync their journal
	if err != nil {
		root = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		defer os.RemoveAll(dir)
		src := newAuthor(rt, false).scenario()
		file := filepath.Join(dir, "s.yaml")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			rt.Fatal(err)
		}
		whole := filepath.Join(dir, "whole")
		var stderr bytes.Buffer
		code := execute([]string{"run", "--quiet", "--previous", "none", "--out", whole, file}, io.Discard, &stderr)
		if _, err := os.Stat(filepath.Join(whole, "results.json")); err != nil {
			rt.Fatalf("exit code %d: %s\n%s", code, &stderr, src)
		}
		want := lasting(rt, whole)
		for range 2 {
			cut := filepath.Join(dir, "cut")
			var cuts []int
			for again := range rapid.IntRange(1, 2).Draw(rt, "times") {
				if again == 0 {
					copyDir(rt, whole, cut)
				}
				cuts = append(cuts, shorten(rt, cut))
				if got := quietly("run", "--quiet", "--previous", "none", "--resume", cut); got != code {
					rt.Fatalf("cut at %v: exit code %d, uninterrupted %d\n%s", cuts, got, code, src)
				}
			}
			if diff := cmp.Diff(want, lasting(rt, cut),
				cmp.AllowUnexported(results.Named[float64]{}, results.Named[results.MetricEstimate]{})); diff != "" {
				rt.Fatalf("cut at %v: -uninterrupted +resumed\n%s\n%s", cuts, diff, src)
			}
			if err := os.RemoveAll(cut); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func copyDir(t *rapid.T, from, to string) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// shorten cuts the journal of a session directory, and takes away what is written
// at the end of a session.
func shorten(t *rapid.T, dir string) int {
	path := filepath.Join(dir, ledger.JournalName)
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int{0}
	for i, c := range journal {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	at := rapid.IntRange(0, len(ends)-1).Draw(t, "record")
	cut := ends[at]
	if at+1 < len(ends) && rapid.Bool().Draw(t, "inside") {
		cut += rapid.IntRange(1, ends[at+1]-cut-1).Draw(t, "byte")
	}
	if err := os.WriteFile(path, journal[:cut], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results.json", "report.md", "junit.xml"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return cut
}
