package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"weir/results"
	"weir/workload"
)

// leave takes what a rank had of the case when it was told to stop.
func (p *pendingCase) leave(part *workload.Part) {
	if !slices.ContainsFunc(p.left, func(other *workload.Part) bool { return other.Rank == part.Rank }) {
		p.left = append(p.left, part)
	}
}

// keepUnfinished keeps as artifacts what ranks had measured in cases that did not end. Nothing of it
// is a result: a launch that did not end has no metrics.
func (l *launched) keepUnfinished() {
	for i, p := range l.pending {
		if p.complete() || len(p.left) == 0 || l.kind.Unfinished == nil {
			continue
		}
		slices.SortFunc(p.left, func(a, b *workload.Part) int { return a.Rank - b.Rank })
		var samples [][]byte
		for _, part := range p.left {
			samples = append(samples, part.Samples)
		}
		said, err := l.kind.Unfinished(l.asked[i], samples)
		if err != nil {
			said = fmt.Sprintf("what was done until then cannot be read: %v", err)
		}
		for _, part := range p.left {
			l.s.ledger.EnterArtifacts([]results.Artifact{l.artifactOf(part, said)})
		}
		p.left = nil
	}
}

// artifactOf writes what a rank had of a case into a file of the form of samples.
func (l *launched) artifactOf(part *workload.Part, said string) results.Artifact {
	node := l.engine.Nodes[part.Rank]
	out := results.Artifact{
		Name: fmt.Sprintf("%s, %s, rank %d until it was stopped", part.Key, results.LaunchName(l.index), part.Rank),
		Node: node, Status: results.ArtifactTruncated, Reason: said,
	}
	file := path.Join("artifacts", l.s.nodeDirs()[node], "unfinished", l.s.ledger.CaseDir(part.Key),
		strconv.Itoa(l.index), strconv.Itoa(part.Rank)+".bin")
	if err := l.s.keep(filepath.FromSlash(file), part.Samples); err != nil {
		out.Status, out.Reason = results.ArtifactMissing, said+"; "+err.Error()
		return out
	}
	sum := sha256.Sum256(part.Samples)
	out.File, out.Bytes, out.SHA256 = file, int64(len(part.Samples)), hex.EncodeToString(sum[:])
	return out
}
