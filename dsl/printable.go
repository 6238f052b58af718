package dsl

import "weir/printable"

// Printable keeps what an author wrote from doing anything to a terminal.
func Printable(line string) string { return printable.Line(line) }
