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
	"strings"

	"weir/executor/agent"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
)

// atStart is when an artifact is collected that is not at the end.
const atStart = "start"

// nodesAtOnce is how many nodes are asked for an artifact at a time: what they send is
// held in memory on its way to the disk.
const nodesAtOnce = 8

// collect keeps the artifacts of the session's start or end. Whatever ends ctx, each has
// the time that it may take, as teardown has: it is what failures are understood by. None
// that is missing ends the session.
func (s *session) collect(ctx context.Context, start bool) {
	ctx = context.WithoutCancel(ctx)
	for _, a := range s.plan.Artifacts {
		if (a.At == atStart) != start {
			continue
		}
		for some := range slices.Chunk(s.targets(a.On), nodesAtOnce) {
			s.collectOne(ctx, a, some)
		}
	}
}

// collectOne asks nodes for an artifact. What was kept of them before, by a session that
// this one goes on with, gives way.
func (s *session) collectOne(ctx context.Context, a planner.Artifact, nodes []string) {
	s.artifacts++
	kept, open := map[string][]results.Artifact{}, map[string]bool{}
	missing := func(node, why string) {
		kept[node] = append(kept[node], results.Artifact{
			Name: a.Name, Node: node, Status: results.ArtifactMissing, Reason: why, Required: a.Required,
		})
	}
	spec, err := agent.Task{Redact: s.secrets, Artifact: &agent.ArtifactTask{
		Command: a.Command, File: a.File, Timeout: seconds(a.Timeout),
	}}.Encode()
	for _, node := range nodes {
		open[node] = true
	}
	if err == nil {
		bounded, cancel := context.WithTimeoutCause(ctx, seconds(a.Timeout)+commandSlack,
			errors.New("its node did not say how it ended"))
		defer cancel()
		err = s.task(bounded, fmt.Sprintf("%sartifact-%d", ownTask, s.artifacts), specFor(nodes, spec),
			func(r agent.Report) bool {
				if r.Artifact == nil || !open[r.Node] {
					return false
				}
				next, last := s.keepArtifact(a, r.Node, *r.Artifact, kept[r.Node])
				kept[r.Node], open[r.Node] = append(kept[r.Node], next), !last
				return last
			}, func(node, cause string) {
				missing(node, "the node's agent is gone: "+cause)
				open[node] = false
			})
	}
	for _, node := range nodes {
		if open[node] {
			missing(node, fmt.Sprintf("not collected: %v", err))
		}
		s.ledger.EnterArtifacts(kept[node])
	}
}

// tooMuch says why nothing more is kept of a node's artifact, "" if it is: its agent knows the
// bounds, and says itself what it has left out.
func tooMuch(next agent.ArtifactReport, kept []results.Artifact) string {
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

// keepArtifact writes one file of an artifact, beside others of it. After the last, nothing more is
// kept of the node.
func (s *session) keepArtifact(a planner.Artifact, node string, r agent.ArtifactReport,
	others []results.Artifact) (out results.Artifact, last bool) {
	if why := tooMuch(r, others); why != "" {
		r = agent.ArtifactReport{Status: results.ArtifactMissing, Reason: why, Last: true}
	}
	out = results.Artifact{
		Name: a.Name, Node: node, Source: r.Source, Status: r.Status, Reason: r.Reason, Required: a.Required,
	}
	if r.Status == results.ArtifactMissing {
		return out, r.Last
	}
	file := artifactFile(s.nodeDirs()[node], a, r.Source, others)
	if err := s.keep(filepath.FromSlash(file), r.Content); err != nil {
		out.Status, out.Reason = results.ArtifactMissing, err.Error()
		return out, r.Last
	}
	sum := sha256.Sum256(r.Content)
	out.File, out.Bytes, out.SHA256 = file, int64(len(r.Content)), hex.EncodeToString(sum[:])
	return out, r.Last
}

// artifactFile is where a file goes, below the session's directory: by the name of the
// artifact, and if that is of several files, by theirs below it.
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

// nodeDirs are the names of folders for nodes, in an order that does not change while
// the session lives.
func (s *session) nodeDirs() map[string]string {
	var all []string
	for _, n := range s.ledger.Doc.Environment.Nodes {
		all = append(all, n.Name)
	}
	return ledger.DirNames(all)
}
