package stored

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// Noise is the flag --noise-from.
type Noise struct{ documents []string }

func (n *Noise) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&n.documents, "noise-from", nil,
		"earlier result document `FILE|DIR` for the noise of launches and sessions, the minimum width of intervals (repeatable)")
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

// Given reports whether the flag is set.
func (n *Noise) Given() bool { return len(n.documents) > 0 }
