package dsl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
)

// bareSize matches a number of bytes from 2 to 999 without a unit. One is a single byte, and a number like 4096 is
// surely one of bytes.
var bareSize = lazyregexp.New(`^["']?([2-9]|[1-9][0-9]{1,2})["']?$`)

// warnBareSize warns of a small size that is written without a unit: block_size: 4 is 4 bytes.
func (d *decoder) warnBareSize(o option.Option, at hcl.Range) {
	if o.Type != option.Size || at.Filename != d.file {
		return
	}
	written := bareSize().FindStringSubmatch(string(at.SliceBytes(d.src)))
	if written == nil {
		return
	}
	n := written[1]
	d.warn(at, "Size without a unit",
		fmt.Sprintf("%s is %s without a unit, which means %[2]s bytes.", o.Name, n),
		fmt.Sprintf("Write %sB, %[1]sKiB or %[1]sMiB.", n))
}
