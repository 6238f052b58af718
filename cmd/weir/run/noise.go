package run

import (
	"fmt"
	"io"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/stored"
	"weir/gate"
	"weir/results"
)

// readNoise reads the sessions that say how much launches and sessions vary.
func (f *flags) readNoise(notes io.Writer) error {
	if len(f.noiseFrom) == 0 {
		return nil
	}
	var docs []*results.Document
	for _, path := range f.noiseFrom {
		doc, err := stored.Read(path, notes)
		if err != nil {
			return fmt.Errorf("--noise-from: %w", err)
		}
		docs = append(docs, doc)
	}
	noise, err := gate.NoiseOf(docs)
	if err != nil {
		return exit.Usage("--noise-from: %w", err)
	}
	f.noise = noise
	return nil
}
