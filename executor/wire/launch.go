package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"weir/engine"
)

// MaxLaunch is the longest text of a launch in bytes, as EncodeLaunch writes it: four
// times that of 1024 ranks that all send each other different amounts.
const MaxLaunch = 64 << 20

// EncodeLaunch writes a launch as all nodes and all ranks of it are told. A matrix may
// have a million cells, and all cases of a launch have the same: it is written once.
// An error says which case has the most of a launch that is too long.
func EncodeLaunch(l engine.Launch) ([]byte, error) {
	l.Cases = once(l.Cases)
	nodes, err := encodeNodes(l.Nodes)
	var text []byte
	if err == nil {
		text, err = json.Marshal(written{l, nodes})
	}
	if err != nil {
		return nil, fmt.Errorf("encoding launch %s: %w", l.ID, err)
	}
	if len(text) > MaxLaunch {
		key, most := longest(l.Cases)
		return nil, fmt.Errorf("launch %s: its %d cases take %.1f MiB on their way to the nodes, of which case %s has %.1f, and %d MiB is the most: "+
			"give its matrices fewer cells that are not 0, or divide its run into several", l.ID, len(l.Cases),
			mib(len(text)), key, mib(most), MaxLaunch>>20)
	}
	return text, nil
}

// written is a launch as it travels: each rank is told of all nodes, and of thousands of
// ranks a list of names takes longer to read than all else.
type written struct {
	engine.Launch
	Nodes string `json:"nodes"`
}

// mostRanks bounds what a short text makes of itself.
const mostRanks = 1 << 16

// encodeNodes writes the nodes of ranks as NAME/RANKS/NAME/RANKS…
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

// latest is the list that was read last. Of a launch's ranks all that one process has are
// told the same, and nobody changes it.
var latest atomic.Pointer[nodeList]

type nodeList struct {
	text  string
	ranks int
	nodes []string
}

func nodesOf(text string, ranks int) ([]string, error) {
	if l := latest.Load(); l != nil && l.text == text && l.ranks == ranks {
		return l.nodes, nil
	}
	nodes, err := decodeNodes(text, ranks)
	if err == nil {
		latest.Store(&nodeList{text, ranks, nodes})
	}
	return nodes, err
}

// decodeNodes undoes encodeNodes, of at most so many ranks.
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
		if err != nil || n < 1 || n > min(ranks, mostRanks)-len(nodes) {
			return nil, fmt.Errorf("the nodes of %d ranks make no sense", ranks)
		}
		if nodes == nil {
			nodes = make([]string, 0, min(ranks, mostRanks))
		}
		for range n {
			nodes = append(nodes, name)
		}
	}
	return nodes, nil
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

// longest is the case with the longest text, and how long that is.
func longest(cases []engine.Case) (key string, bytes int) {
	for _, c := range cases {
		if text, err := json.Marshal(c); err == nil && len(text) > bytes {
			key, bytes = c.Key, len(text)
		}
	}
	return key, bytes
}

// DecodeLaunch reads what EncodeLaunch writes.
func DecodeLaunch(text []byte) (engine.Launch, error) {
	var w written
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
	each(l.Cases)
	return l, nil
}

// once leaves out the large part of a case that the case before has too.
func once(cases []engine.Case) []engine.Case {
	cases = slices.Clone(cases)
	for i := len(cases) - 1; i > 0; i-- {
		if bytes.Equal(cases[i].Large, cases[i-1].Large) && len(cases[i].Large) > 0 {
			cases[i].Large = same
		}
	}
	return cases
}

// same stands for the large part of the case before.
var same = json.RawMessage("true")

// each undoes once.
func each(cases []engine.Case) {
	for i := 1; i < len(cases); i++ {
		if bytes.Equal(cases[i].Large, same) {
			cases[i].Large = cases[i-1].Large
		}
	}
}
