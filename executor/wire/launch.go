package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/weir-bench/weir/engine"
)

// MaxLaunch is the longest text of a launch in bytes: four times that of 1024 ranks with different amounts for each
// pair.
const MaxLaunch = 64 << 20

// EncodeLaunch encodes a launch for its nodes and ranks. A matrix that all cases share, with up to a million cells, is
// written once. The error of a launch that is too long names its longest case.
func EncodeLaunch(l engine.Launch) ([]byte, error) {
	l.Cases = dedupeLarge(l.Cases)
	nodes, err := encodeNodes(l.Nodes)
	var text []byte
	if err == nil {
		text, err = json.Marshal(encodedLaunch{l, nodes})
	}
	if err != nil {
		return nil, fmt.Errorf("encoding launch %s: %w", l.ID, err)
	}
	if len(text) > MaxLaunch {
		key, most := longest(l.Cases)
		return nil, fmt.Errorf("launch %s: its %d cases take %.1f MiB encoded, at most %d MiB are allowed (the longest: case %s, %.1f MiB): "+
			"use matrices with fewer nonzero cells, or divide its run into several", l.ID, len(l.Cases), mib(len(text)),
			MaxLaunch>>20, key, mib(most))
	}
	return text, nil
}

// encodedLaunch is the encoded form of a launch, with a compact list of nodes: JSON lists of thousands of names are
// slow.
type encodedLaunch struct {
	engine.Launch
	Nodes string `json:"nodes"`
}

// maxNodesRanks bounds the ranks that a short text can stand for.
const maxNodesRanks = 1 << 16

// encodeNodes encodes the nodes of ranks as NAME/RANKS, separated by slashes.
func encodeNodes(nodes []string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(nodes); {
		from, name := i, nodes[i]
		if strings.Contains(name, "/") {
			return "", fmt.Errorf("node %q has a slash in its name", name)
		}
		for i < len(nodes) && nodes[i] == name {
			i++
		}
		if from > 0 {
			b.WriteByte('/')
		}
		fmt.Fprintf(&b, "%s/%d", name, i-from)
	}
	return b.String(), nil
}

// lastNodes is the last decoded list, which all ranks of this process share.
var lastNodes atomic.Pointer[nodeList]

type nodeList struct {
	text  string
	ranks int
	nodes []string
}

func nodesOf(text string, ranks int) ([]string, error) {
	if l := lastNodes.Load(); l != nil && l.text == text && l.ranks == ranks {
		return l.nodes, nil
	}
	nodes, err := decodeNodes(text, ranks)
	if err == nil {
		lastNodes.Store(&nodeList{text, ranks, nodes})
	}
	return nodes, err
}

// decodeNodes undoes encodeNodes, for up to this number of ranks.
func decodeNodes(text string, ranks int) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var nodes []string
	for more := true; more; {
		var name, count string
		name, text, _ = strings.Cut(text, "/")
		count, text, more = strings.Cut(text, "/")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > min(ranks, maxNodesRanks)-len(nodes) {
			return nil, fmt.Errorf("malformed nodes of %d ranks", ranks)
		}
		if nodes == nil {
			nodes = make([]string, 0, min(ranks, maxNodesRanks))
		}
		for range n {
			nodes = append(nodes, name)
		}
	}
	return nodes, nil
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

func longest(cases []engine.Case) (key string, bytes int) {
	for _, c := range cases {
		if text, err := json.Marshal(c); err == nil && len(text) > bytes {
			key, bytes = c.Key, len(text)
		}
	}
	return key, bytes
}

// DecodeLaunch decodes what EncodeLaunch encodes.
func DecodeLaunch(text []byte) (engine.Launch, error) {
	var w encodedLaunch
	if len(text) > MaxLaunch {
		return w.Launch, fmt.Errorf("a launch of %d bytes: %d is the most", len(text), MaxLaunch)
	}
	err := json.Unmarshal(text, &w)
	l := w.Launch
	if err == nil {
		l.Nodes, err = nodesOf(w.Nodes, l.Ranks)
	}
	if err != nil {
		return l, fmt.Errorf("reading a launch: %w", err)
	}
	restoreLarge(l.Cases)
	return l, nil
}

// dedupeLarge replaces the large part of a case by a mark if it is equal to that of the previous case.
func dedupeLarge(cases []engine.Case) []engine.Case {
	cases = slices.Clone(cases)
	for i := len(cases) - 1; i > 0; i-- {
		if bytes.Equal(cases[i].Large, cases[i-1].Large) && len(cases[i].Large) > 0 {
			cases[i].Large = same
		}
	}
	return cases
}

// same stands for the large part of the previous case.
var same = json.RawMessage("true")

func restoreLarge(cases []engine.Case) {
	for i := 1; i < len(cases); i++ {
		if bytes.Equal(cases[i].Large, same) {
			cases[i].Large = cases[i-1].Large
		}
	}
}
