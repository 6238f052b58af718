package agent

import "weir/executor/rlimit"

// What a process needs that has an agent, as measured with 2 to 32 ranks on 2 processors,
// and some more.
const (
	ownDescriptors  = 48 // with those of a session and its etcd
	ownThreads      = 12
	ownAddressSpace = 1536 << 20
	rankDescriptors = 4
	rankThreads     = 8       // of its process, besides those that move data, and one that waits for it
	threadSpace     = 9 << 20 // bytes of address space, most of them its stack
)

// Needs are what so many ranks need on a node, with so many threads that move data, beyond
// what there is, and the agent with them.
func Needs(ranks, threads int) rlimit.Needs {
	return rlimit.Needs{
		Descriptors:  ownDescriptors + ranks*rankDescriptors,
		Threads:      ownThreads + ranks*rankThreads + threads,
		AddressSpace: ownAddressSpace + uint64(ranks)*threadSpace,
	}
}

// SharedBytes is what so many threads that move data may take of files that are shared as
// memory: UCX takes 5 MB for each.
func SharedBytes(threads int) int64 { return int64(threads) * 6 << 20 }

// makeRoom says what this process lacks for its ranks of a launch, and makes sure of the
// threads that will wait for them: ranks may take the last that there are.
func (a *Agent) makeRoom(task *assignment) error {
	if a.o.Engine != nil {
		return nil // they are no processes
	}
	ranks := len(task.Ranks)
	if err := rlimit.Check(Needs(ranks, ranks*task.launch.Threads)); err != nil {
		return err
	}
	rlimit.HoldThreads(ownThreads + ranks)
	return nil
}
