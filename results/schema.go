package results

import _ "embed"

// JSONSchema is the JSON Schema (draft 2020-12) of the documents that Encode
// writes. It is strict: a key that is not in it is a mistake of the writer.
//
//go:embed schema.json
var JSONSchema []byte
