// Package ctperftest reads and writes the files of NIXL's ct-perftest and
// sequential-ct-perftest: a YAML file that names one traffic pattern or a sequence
// of them, and a text file with the matrix of each.
//
// Reading says at which characters something is wrong, and warns where those
// programs do something else than their file says. What they have of keys:
//
//	iters, warmup_iters        of ct-perftest
//	traffic_pattern            its one pattern
//	traffic_patterns           those of sequential-ct-perftest
//	iters, isolation_iters     its later versions
//
// and of a pattern matrix_file or matrix, shards, mem_type, xfer_op,
// sleep_before_launch_sec, sleep_after_launch_sec (later decode_compute_sec) and
// metadata. Storage (storage, or a tp_file alone) is refused.
package ctperftest

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/matrix"
)

// Config is a file of either program.
type Config struct {
	File       string
	Sequence   bool // sequential-ct-perftest
	Iterations int  // as the file or else the program has it
	Warmup     int
	Isolated   int // of a sequence: iterations of each pattern alone
	Patterns   []Pattern

	elsewhere string // kinds of memory that the file has and Move has replaced
}

// Move puts the buffers of all patterns into one kind of memory, whatever the file says.
// A scenario of the config says what it was.
func (c *Config) Move(memory string) {
	var kinds []string
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if p.Memory != memory && !slices.Contains(kinds, p.Memory) {
			kinds = append(kinds, p.Memory)
		}
		p.Memory = memory
	}
	c.elsewhere = strings.Join(kinds, " and ")
}

// Pattern is one traffic pattern with what the file says of how it is moved.
type Pattern struct {
	matrix.Pattern
	File   string    // of the matrix, where it was found; "": it is in the YAML file
	Shards int       // parts into which each buffer is divided
	Memory string    // dram or vram
	Said   hcl.Range // where the file says Memory; without a file name: it does not, and the programs take vram
	Op     string    // write or read
}

// Ranks is the number of ranks, which is the same for all patterns.
func (c *Config) Ranks() int {
	if len(c.Patterns) == 0 {
		return 0
	}
	return c.Patterns[0].Matrix.Ranks()
}

// What the programs do if their file does not say.
const (
	defaultIterations         = 1  // ct-perftest
	defaultSequenceIterations = 3  // sequential-ct-perftest, in its code
	defaultSequenceWarmup     = 30 // in its code
	defaultIsolated           = 30 // in its code
)

// MetadataFile is the name under which the generator writes a sequence.
const MetadataFile = "metadata.yaml"

// matrices is the directory of the matrices beside it.
const matrices = "matrices"
