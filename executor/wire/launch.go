package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"weir/engine"
	"weir/workload"
)

// MaxLaunch is the longest text of a launch in bytes, as EncodeLaunch writes it: four
// times that of 1024 ranks that all send each other different amounts.
const MaxLaunch = 64 << 20

// EncodeLaunch writes a launch as all nodes and all ranks of it are told. A matrix may
// have a million cells, and all cases of a launch have the same: it is written once.
// An error says which case has the most of a launch that is too long.
func EncodeLaunch(l engine.Launch) ([]byte, error) {
	l.Cases = once(l.Cases)
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encoding launch %s: %w", l.ID, err)
	}
	if len(text) > MaxLaunch {
		key, most := longest(l.Cases)
		return nil, fmt.Errorf("launch %s: its %d cases take %.1f MiB on their way to the nodes, of which case %s has %.1f, and %d MiB is the most: "+
			"give its matrices fewer cells that are not 0, or divide its run into several", l.ID, len(l.Cases), mib(len(text)), key, mib(most), MaxLaunch>>20)
	}
	return text, nil
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
	var l engine.Launch
	if len(text) > MaxLaunch {
		return l, fmt.Errorf("a launch of %d bytes: %d is the most", len(text), MaxLaunch)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("reading a launch: %w", err)
	}
	each(l.Cases)
	return l, nil
}

// once gives the cases without matrices that the case before has too.
func once(cases []engine.Case) []engine.Case {
	cases = slices.Clone(cases)
	for i := len(cases) - 1; i > 0; i-- {
		if cases[i].Options.Matrix == cases[i-1].Options.Matrix {
			cases[i].Options.Matrix = nil
		}
	}
	return cases
}

// each undoes once.
func each(cases []engine.Case) {
	for i := 1; i < len(cases); i++ {
		if o := &cases[i].Options; o.Matrix == nil && o.Pattern == workload.MatrixPattern {
			o.Matrix = cases[i-1].Options.Matrix
		}
	}
}
