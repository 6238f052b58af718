package results

// Artifact is a file that was kept of a node, or what was to be kept and was not.
type Artifact struct {
	Name   string `json:"name"` // as the scenario calls it
	Node   string `json:"node"` // of the session
	File   string `json:"file,omitempty" doc:"Below the session directory; absent where there is none."`
	Source string `json:"source,omitempty" doc:"Path on the node; absent for the output of a command."`
	Bytes  int64  `json:"bytes" doc:"Of the file."`
	SHA256 string `json:"sha256,omitempty" doc:"Of the file." schema:"pattern=^[0-9a-f]{64}$"`
	Status string `json:"status" doc:"truncated: the file is the beginning of it; failed: the file is the output of a command that failed." schema:"enum=ok|truncated|missing|failed"`
	Reason string `json:"reason,omitempty"` // of all but ok
	// Required says that the session is an error without it.
	Required bool `json:"required,omitzero" doc:"The session is an error if it is missing or failed."`
}

// The statuses of artifacts besides OK. Of a truncated one File is the beginning; of
// one that failed it is the output of a command that did.
const (
	ArtifactTruncated = "truncated"
	ArtifactMissing   = "missing"
	ArtifactFailed    = "failed"
)

// Counts says whether the session is an error for want of it.
func (a Artifact) Counts() bool {
	return a.Required && (a.Status == ArtifactMissing || a.Status == ArtifactFailed)
}
