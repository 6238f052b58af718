package move

// Served is the number of sources of a target.
func (t Spec) Served(target int) int64 { return t.served(target) }
