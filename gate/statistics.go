package gate

import _ "embed"

// Statistics is the documentation page on how verdicts are computed, with their error rates.
//
//go:embed statistics.md
var Statistics string
