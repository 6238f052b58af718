// Digests of cases and plans.

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

	"github.com/weir-bench/weir/results/assertion"
)

// ErrDigest is the error of a plan with content that does not match its digest.
var ErrDigest = errors.New("the plan was modified after it was made")

// A digest identifies content. The digest of a case (its id) covers its work, what runs beside it,
// and its assertions, but neither names nor places in files, so that the same measurement is
// recognised in another scenario. The digest of a plan covers everything that is run and judged.
// Everything is sorted, since the order of keys in a file is not content.
//
// Both can be computed from a Table, without writing its cases, and from a Plan that was read. The
// functions here are common to both.

// content is the canonical text of a case; the id is its SHA-256. All parts are JSON.
func content(b []byte, workload string, options, env, place, secrets, judged, context []byte) []byte {
	b = append(append(b, `{"Workload":`...), workload...)
	b = append(append(b, `,"Options":`...), options...)
	b = append(append(b, `,"Env":`...), env...)
	b = append(append(b, `,"Place":`...), place...)
	b = append(append(b, `,"Assertions":`...), judged...)
	if secrets != nil {
		b = append(append(b, `,"Secrets":`...), secrets...)
	}
	if context != nil {
		b = append(append(b, `,"Around":`...), context...)
	}
	return append(b, '}')
}

// line is the hash of a case with its place in the plan.
func line(key string, id [32]byte, when, status string, timeout float64, needs [32]byte) [32]byte {
	b := make([]byte, 0, 256)
	for _, part := range []string{key, string(id[:]), when, status, string(needs[:])} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return sha256.Sum256(binary.LittleEndian.AppendUint64(b, math.Float64bits(timeout)))
}

// judged returns the parts of assertions that affect verdicts.
func judged(list []assertion.Assertion) []string {
	keys := []string{}
	for _, a := range list {
		keys = append(keys, a.Key())
	}
	slices.Sort(keys)
	return keys
}

// context is everything before and beside the cases of a run that may affect their results; nil if
// there is nothing. load has the actions of its background load.
func (p *Plan) context(r *Run, load []string) []byte {
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
	return encode(text(sha256.Sum256(all))) // it may be long, and is a part of every case
}

// planContent is the content of a plan; the digest is its SHA-256.
type planContent struct {
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
	Groups          []groupContent
	Rest            string // of cases in no group
}

type groupContent struct {
	Ranks  int
	Looks  []int
	Cases  string   // hash of their lines
	During []string // of groups
}

// digestOf completes the content of a plan with its groups and returns the digest. during has
// indices of groups, by group.
func digestOf(
	p *Plan, assertions []assertion.Assertion, groups []groupContent, during [][]int, rest [][32]byte,
) string {
	w := planContent{
		Schema: p.Schema, Cluster: p.Cluster, Checks: p.Checks, Artifacts: p.Artifacts, Setup: p.Setup,
		Teardown: p.Teardown, Baseline: p.Baseline, BaselineMissing: p.BaselineMissing,
		Inconclusive: p.Inconclusive,
		Assertions:   judged(assertions), Rest: hashLines(rest), Runs: slices.Clone(p.Runs),
	}
	for i, r := range w.Runs {
		// only for reports and selections: neither run nor judged
		if r.Stage != "" || r.BaselineVariant != "" || r.VariantNotes != nil || r.Prefix != "" || r.Files != nil ||
			r.At != nil || r.Tags != nil {
			plain := *r
			plain.Stage, plain.BaselineVariant, plain.Prefix = "", "", "" // needs have the full names
			plain.Files, plain.At, plain.VariantNotes, plain.Tags = nil, nil, nil, nil
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
	slices.SortFunc(w.Groups, func(a, b groupContent) int { return strings.Compare(a.Cases, b.Cases) })
	return text(sha256.Sum256(encode(w)))
}

// hashLines hashes a set of lines in any order; it sorts them.
func hashLines(lines [][32]byte) string {
	slices.SortFunc(lines, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for i := range lines {
		h.Write(lines[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func text(sum [32]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// unseal decodes the hash in a digest.
func unseal(digest string) (sum [32]byte, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(b) != len(sum) {
		return sum, fmt.Errorf("%w: %q is not a digest", ErrDigest, digest)
	}
	return [32]byte(b), nil
}
