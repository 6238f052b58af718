package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/engine"
)

// MaxLaunch is the longest text of a launch in bytes: four times that of 1024 ranks with different amounts for each
// pair.
const MaxLaunch = 64 << 20

// EncodeLaunch encodes a launch for its nodes and ranks. A matrix that all cases share, with up to a million cells, is
// written once. The error of a launch that is too long names its longest case.
func EncodeLaunch(l engine.Launch) ([]byte, error) {
	l.Cases = dedupeLarge(l.Cases)
	text, err := json.Marshal(l)
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
func DecodeLaunch(text []byte) (l engine.Launch, err error) {
	if len(text) > MaxLaunch {
		return l, fmt.Errorf("a launch of %d bytes: %d is the most", len(text), MaxLaunch)
	}
	if err = json.Unmarshal(text, &l); err == nil && len(l.Nodes) > l.Ranks {
		err = fmt.Errorf("%d nodes of %d ranks", len(l.Nodes), l.Ranks)
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
