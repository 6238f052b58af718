package workload

// Life is one process of a rank.
type Life struct {
	// First and Last are the cases that it runs, by their places in the launch. It is started
	// before: with the launch, or when the rank's process before it has ended.
	First int `json:"first"`
	Last  int `json:"last"`
	// Killed says that it ends itself by SIGKILL in its last case, and not in order after it. It
	// writes into the control page before when it does.
	Killed bool `json:"killed,omitempty"`
}
