package history

import _ "embed"

// Statistics is the part of the page on statistics that is about histories, with the rates at which
// changes are found and falsely found.
//
//go:embed statistics.md
var Statistics string
