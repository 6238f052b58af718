package stored

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/results"
)

// Noise is the flag that names the sessions which say how much launches and sessions vary.
type Noise struct{ documents []string }

func (n *Noise) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&n.documents, "noise-from", nil,
		"result document `FILE|DIR` of an earlier session; all that are given say how much launches and sessions vary, which no interval is narrower than")
}

// Read reads the documents.
func (n *Noise) Read(notes io.Writer) ([]results.CaseNoise, error) {
	var docs []*results.Document
	for _, path := range n.documents {
		doc, err := Read(path, notes)
		if err != nil {
			return nil, fmt.Errorf("--noise-from: %w", err)
		}
		docs = append(docs, doc)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	noise, err := gate.NoiseOf(docs)
	if err != nil {
		return nil, exit.Usage("--noise-from: %w", err)
	}
	return noise, nil
}

// Given says whether the flag names any session.
func (n *Noise) Given() bool { return len(n.documents) > 0 }
