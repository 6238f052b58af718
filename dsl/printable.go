// Text that is safe for terminals.

package dsl

import "github.com/weir-bench/weir/internal/printable"

// Printable escapes characters that would control a terminal.
func Printable(line string) string { return printable.Line(line) }
