package gate

import _ "embed"

// Statistics is the page that says how verdicts are found, with the rates at which they are
// wrong.
//
//go:embed statistics.md
var Statistics string
