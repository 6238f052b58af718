// This file collects artifacts from nodes, at the start and the end of a session, and stores unfinished samples.

package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// artifactAtStart is the At of an artifact that is collected at the start of the session, not at its end.
const artifactAtStart = "start"

// artifactConcurrency is how many nodes send an artifact at a time: it is in memory on its way to the disk.
const artifactConcurrency = 8

// collectArtifacts collects the artifacts of the session's start or end, even after the end of ctx: they explain
// failures. A missing artifact does not end the session.
func (s *session) collectArtifacts(ctx context.Context, start bool) {
	ctx = context.WithoutCancel(ctx)
	for _, a := range s.plan.Artifacts {
		if (a.At == artifactAtStart) != start {
			continue
		}
		for some := range slices.Chunk(s.targets(a.On), artifactConcurrency) {
			s.collectArtifact(ctx, a, some)
		}
	}
}

// collectArtifact collects an artifact of nodes. It replaces those that a resumed session had collected.
func (s *session) collectArtifact(ctx context.Context, a planner.Artifact, nodes []string) {
	s.artifacts++
	kept, open := map[string][]results.Artifact{}, map[string]bool{}
	missing := func(node, why string) {
		kept[node] = append(kept[node], results.Artifact{
			Name: a.Name, Node: node, Status: results.ArtifactMissing, Reason: why, Required: a.Required,
		})
	}
	ask := agent.Task{Redact: s.secrets, Artifact: &agent.ArtifactTask{
		Command: a.Command, File: a.File, Timeout: toDuration(a.Timeout),
	}}
	for _, node := range nodes {
		open[node] = true
	}
	bounded, cancel := context.WithTimeoutCause(ctx, toDuration(a.Timeout)+commandSlack,
		errors.New("its node did not report its end"))
	defer cancel()
	err := s.runTask(bounded, fmt.Sprintf("%sartifact-%d", ownTask, s.artifacts), sameTask(nodes, ask),
		func(r agent.Report) bool {
			if r.Artifact == nil || !open[r.Node] {
				return false
			}
			next, last := s.storeArtifact(a, r.Node, *r.Artifact, kept[r.Node])
			kept[r.Node], open[r.Node] = append(kept[r.Node], next), !last
			return last
		}, func(node, cause string) {
			missing(node, "the node's agent is gone: "+cause)
			open[node] = false
		})
	for _, node := range nodes {
		if open[node] {
			missing(node, fmt.Sprintf("not collected: %v", err))
		}
		s.ledger.EnterArtifacts(kept[node])
	}
}

// overArtifactLimit is why no more files of a node's artifact are stored; "": they are. Agents know the limits
// and report what they leave out, so only a faulty agent exceeds them.
func overArtifactLimit(next agent.ArtifactReport, kept []results.Artifact) string {
	bytes := int64(0)
	for _, a := range kept {
		bytes += a.Bytes
	}
	if len(kept) <= agent.MaxArtifactFiles && (bytes < agent.MaxArtifactTotal || len(next.Content) == 0) {
		return ""
	}
	return fmt.Sprintf("the node sends more than %d files or %d bytes, which an artifact has at most",
		agent.MaxArtifactFiles, agent.MaxArtifactTotal)
}

// storeArtifact stores one file of a node's artifact; last: the node sends no more.
func (s *session) storeArtifact(a planner.Artifact, node string, r agent.ArtifactReport,
	others []results.Artifact) (out results.Artifact, last bool) {
	if why := overArtifactLimit(r, others); why != "" {
		r = agent.ArtifactReport{Status: results.ArtifactMissing, Reason: why, Last: true}
	}
	out = results.Artifact{
		Name: a.Name, Node: node, Source: r.Source, Status: r.Status, Reason: r.Reason, Required: a.Required,
	}
	if r.Status == results.ArtifactMissing {
		return out, r.Last
	}
	file := artifactFile(s.nodeDirs()[node], a, r.Source, others)
	if err := s.storeContent(&out, file, r.Content); err != nil {
		out.Reason = err.Error()
	}
	return out, r.Last
}

// storeContent writes an artifact's file, a slash path below the session's directory, and completes its entry.
func (s *session) storeContent(out *results.Artifact, file string, content []byte) error {
	if err := s.storeFile(filepath.FromSlash(file), content); err != nil {
		out.Status = results.ArtifactMissing
		return err
	}
	sum := sha256.Sum256(content)
	out.File, out.Bytes, out.SHA256 = file, int64(len(content)), hex.EncodeToString(sum[:])
	return nil
}

// artifactFile is the slash path of a file, below the session's directory: a file, or a directory of the files
// that match a pattern, with the name of the artifact.
func artifactFile(nodeDir string, a planner.Artifact, source string, others []results.Artifact) string {
	name := path.Join("artifacts", nodeDir, ledger.DirName(a.Name))
	if !agent.IsPattern(a.File) {
		return name
	}
	base := path.Join(name, ledger.DirName(path.Base(source)))
	name = base
	for n := 2; slices.ContainsFunc(others,
		func(o results.Artifact) bool { return strings.EqualFold(o.File, name) }); n++ {
		name = fmt.Sprintf("%s~%d", base, n)
	}
	return name
}

func (s *session) nodeDirs() map[string]string {
	var all []string
	for _, n := range s.ledger.Doc.Environment.Nodes {
		all = append(all, n.Name)
	}
	return ledger.DirNames(all)
}

// addUnfinished adds what a rank had measured in the case when it was stopped.
func (p *pendingCase) addUnfinished(part *workload.Part) {
	if !slices.ContainsFunc(p.unfinished, func(other *workload.Part) bool { return other.Rank == part.Rank }) {
		p.unfinished = append(p.unfinished, part)
	}
}

// storeUnfinished stores as artifacts what ranks had measured in unfinished cases, which have no metrics.
func (l *launchRun) storeUnfinished() {
	u, ok := l.kind.Behaviour.(workload.PartialSummarizer)
	for i, p := range l.pending {
		if p.complete() || len(p.unfinished) == 0 || !ok {
			continue
		}
		slices.SortFunc(p.unfinished, func(a, b *workload.Part) int { return a.Rank - b.Rank })
		var samples [][]byte
		for _, part := range p.unfinished {
			samples = append(samples, part.Samples)
		}
		reason, err := u.Unfinished(l.specs[i], samples)
		if err != nil {
			reason = fmt.Sprintf("the samples until then cannot be read: %v", err)
		}
		for _, part := range p.unfinished {
			l.s.ledger.EnterArtifacts([]results.Artifact{l.unfinishedArtifact(part, reason)})
		}
		p.unfinished = nil
	}
}

func (l *launchRun) unfinishedArtifact(part *workload.Part, reason string) results.Artifact {
	node := l.engine.Nodes[part.Rank]
	out := results.Artifact{
		Name: fmt.Sprintf("%s, %s, rank %d until it was stopped", part.Key, results.LaunchName(l.index), part.Rank),
		Node: node, Status: results.ArtifactTruncated, Reason: reason,
	}
	file := path.Join("artifacts", l.s.nodeDirs()[node], "unfinished", l.s.ledger.CaseDir(part.Key),
		strconv.Itoa(l.index), strconv.Itoa(part.Rank)+".bin")
	if err := l.s.storeContent(&out, file, part.Samples); err != nil {
		out.Reason = reason + "; " + err.Error()
	}
	return out
}
