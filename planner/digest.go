package planner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/assertion"
)

// ErrDigest says that a plan's content is not what its digest was made of.
var ErrDigest = errors.New("the plan was changed after it was made")

// A digest identifies content. That of a case (its id) is of what it does, what
// surrounds it and what is asserted of it; it knows neither names nor places in
// files, so that the same measurement is recognised in another scenario. That of
// a plan is of everything that will be run and judged. Everything is sorted: the
// order of keys in a file is not content.
//
// Both are computed from a Table without writing its cases out, and from a Plan
// that was read; the functions here are what the two have in common.

// pair is a JSON fragment `"name":value`.
type pair = []byte

// content is the canonical text of a case, of which its id is the SHA-256.
func content(b []byte, workload string, options, env []pair, place, secrets, judged, around []byte) []byte {
	b = append(append(b, `{"Workload":`...), workload...)
	b = append(appendPairs(append(b, `,"Options":{`...), options), `},"Env":{`...)
	b = append(append(appendPairs(b, env), `},"Place":`...), place...)
	b = append(append(b, `,"Assertions":`...), judged...)
	if secrets != nil {
		b = append(append(b, `,"Secrets":`...), secrets...)
	}
	if around != nil {
		b = append(append(b, `,"Around":`...), around...)
	}
	return append(b, '}')
}

func appendPairs(b []byte, pairs []pair) []byte {
	first := true
	for _, p := range pairs {
		if p == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, p...)
	}
	return b
}

// line identifies a case with its place in the plan.
func line(b []byte, key []byte, id [32]byte, when, status string, timeout float64, needs [32]byte) []byte {
	for _, part := range [][]byte{key, id[:], []byte(when), []byte(status), needs[:]} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(timeout))
}

// judged are assertions as far as verdicts depend on them.
func judged(list []assertion.Assertion) []string {
	keys := []string{}
	for _, a := range list {
		keys = append(keys, a.Key())
	}
	slices.Sort(keys)
	return keys
}

// around is what surrounds the cases of a run and may change what they measure;
// nil if nothing does. load are the actions of its background load.
func (p *Plan) around(r *Run, load []string) []byte {
	if len(p.Setup)+len(r.Setup)+len(r.LaunchSetup)+len(load) == 0 {
		return nil
	}
	anonymous := func(list []Command) []Command {
		out := slices.Clone(list)
		for i := range out {
			out[i].Name, out[i].Timeout = "", 0
		}
		return out
	}
	all := encode(struct {
		Setup, LaunchSetup []Command
		Load               []string
		Session            []Command `json:",omitempty"`
	}{anonymous(r.Setup), anonymous(r.LaunchSetup), load, anonymous(p.Setup)})
	return encode(text(sha256.Sum256(all))) // it may be long, and is part of every case
}

// whole is the content of a plan, of which its digest is the SHA-256.
type whole struct {
	Schema          string
	Cluster         Cluster
	Checks          []Check
	Artifacts       []Artifact `json:",omitempty"`
	Setup, Teardown []Command
	Baseline        string
	BaselineMissing string                  `json:",omitempty"`
	Inconclusive    *assertion.Inconclusive `json:",omitempty"`
	Runs            []*Run
	Assertions      []string
	Groups          []wholeGroup
	Rest            string // of cases that are in no group
}

type wholeGroup struct {
	Ranks  int
	Looks  []int
	Cases  string   // of their lines
	During []string // of groups
}

// digestOf completes the content of a plan from its groups and gives its digest.
// during are indices of groups, by group.
func digestOf(p *Plan, assertions []assertion.Assertion, groups []wholeGroup, during [][]int, rest [][32]byte) string {
	w := whole{
		Schema: p.Schema, Cluster: p.Cluster, Checks: p.Checks, Artifacts: p.Artifacts, Setup: p.Setup,
		Teardown: p.Teardown, Baseline: p.Baseline, BaselineMissing: p.BaselineMissing,
		Inconclusive: p.Inconclusive,
		Assertions:   judged(assertions), Rest: hashLines(rest), Runs: slices.Clone(p.Runs),
	}
	for i, r := range w.Runs {
		// what reports show, and nothing that is run or judged
		if r.Stage != "" || r.BaselineVariant != "" || r.Prefix != "" || r.Files != nil || r.At != nil {
			plain := *r
			plain.Stage, plain.BaselineVariant, plain.Prefix = "", "", "" // needs have the whole names
			plain.Files, plain.At = nil, nil
			w.Runs[i] = &plain
		}
	}
	slices.SortFunc(w.Runs, func(a, b *Run) int { return strings.Compare(a.Name, b.Name) })
	for i, g := range groups {
		for _, f := range during[i] {
			g.During = append(g.During, groups[f].Cases)
		}
		slices.Sort(g.During)
		w.Groups = append(w.Groups, g)
	}
	slices.SortFunc(w.Groups, func(a, b wholeGroup) int { return strings.Compare(a.Cases, b.Cases) })
	return text(sha256.Sum256(encode(w)))
}

// hashLines identifies a set of lines, in whatever order; it sorts them.
func hashLines(lines [][32]byte) string {
	slices.SortFunc(lines, func(a, b [32]byte) int {
		x, y := binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return bytes.Compare(a[:], b[:])
	})
	h := sha256.New()
	for i := range lines {
		h.Write(lines[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func text(sum [32]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// unseal is the sum in a digest's text.
func unseal(digest string) (sum [32]byte, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(b) != len(sum) {
		return sum, fmt.Errorf("%w: %q is no digest", ErrDigest, digest)
	}
	return [32]byte(b), nil
}
