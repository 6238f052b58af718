// Package ctperftest reads and writes the files of NIXL's ct-perftest and sequential-ct-perftest: a
// YAML file with one traffic pattern or a sequence of them, and a text file with the matrix of
// each.
//
// Errors point at the wrong characters. Warnings tell where those programs behave differently from
// their file. The keys are
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

	"github.com/weir-bench/weir/internal/matrix"
)

// Config is the file of either program.
type Config struct {
	File       string
	Sequence   bool // sequential-ct-perftest
	Iterations int  // of the file, or else the program's default
	Warmup     int
	Isolated   int // of a sequence: iterations of each pattern alone
	Patterns   []Pattern

	elsewhere string // kinds of memory in the file that Move replaced
}

// Move puts the buffers of all patterns into one kind of memory. A scenario made from the config
// names the replaced kinds.
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

// Pattern is one traffic pattern with its options.
type Pattern struct {
	matrix.Pattern
	File   string    // of the matrix, where it was found; "": it is in the YAML file
	Shards int       // parts into which each buffer is divided
	Memory string    // dram or vram
	Said   hcl.Range // place of Memory in the file; without a file name: the default, vram
	Op     string    // write or read
}

// Ranks returns the number of ranks, which all patterns share.
func (c *Config) Ranks() int {
	if len(c.Patterns) == 0 {
		return 0
	}
	return c.Patterns[0].Matrix.Ranks()
}

// The defaults of the programs.
const (
	defaultIterations         = 1  // ct-perftest
	defaultSequenceIterations = 3  // sequential-ct-perftest, in its code
	defaultSequenceWarmup     = 30 // in its code
	defaultIsolated           = 30 // in its code
)

// MetadataFile is the file name of a sequence.
const MetadataFile = "metadata.yaml"

// matrices is the directory of matrices beside it.
const matrices = "matrices"
