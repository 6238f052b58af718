package workload

// Life is one process of a rank.
type Life struct {
	// First and Last are the indices of the cases that it runs. It starts with the launch, or when the rank's previous
	// process has ended.
	First int `json:"first"`
	Last  int `json:"last"`
	// Killed: it ends itself by SIGKILL in its last case instead of in order after it. It writes the time of that into
	// the control page first.
	Killed bool `json:"killed,omitempty"`
}
