//go:build weirtest

package native

import (
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
)

// A byte flipped anywhere in received data is found.
func TestEPFindsAnyFlippedByte(t *testing.T) {
	phase.Long(t)
	const flips = 60 // after each of three checks of each of three ranks
	for _, layout := range epLayoutNames {
		missed := flipBytes(flips)
		_, err := runEP(t, "shm", epValues(option.Values{
			"layout": layout, "tokens": int64(6), "hidden": int64(128), "scales": "ue8m0",
		}))
		if n := missed(); err != nil || n != 0 {
			t.Errorf("%s: %d of %d bytes were not found, %v", layout, n, 9*flips, err)
		}
	}
}
