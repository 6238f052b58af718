package results

// Artifact is a file kept from a node, or one that was requested and is missing.
type Artifact struct {
	Name   string `json:"name"` // name in the scenario
	Node   string `json:"node"` // name of the node in the session
	File   string `json:"file,omitempty" doc:"Below the session directory; absent where there is none."`
	Source string `json:"source,omitempty" doc:"Path on the node; absent for the output of a command."`
	Bytes  int64  `json:"bytes" doc:"Of the file."`
	SHA256 string `json:"sha256,omitempty" doc:"Of the file." schema:"pattern=^[0-9a-f]{64}$"`
	Status string `json:"status" doc:"truncated: the file is the beginning of it; failed: the file is the output of a command that failed." schema:"enum=ok|truncated|missing|failed"`
	Reason string `json:"reason,omitempty"` // except of status ok
	// Required artifacts make the session an error if they are missing.
	Required bool `json:"required,omitzero" doc:"The session is an error if it is missing or failed."`
}

// The statuses of artifacts besides OK. File of a truncated artifact is its beginning; of a failed one the
// output of the failed command.
const (
	ArtifactTruncated = "truncated"
	ArtifactMissing   = "missing"
	ArtifactFailed    = "failed"
)

// FailsSession reports whether the artifact makes the session an error.
func (a Artifact) FailsSession() bool {
	return a.Required && (a.Status == ArtifactMissing || a.Status == ArtifactFailed)
}
