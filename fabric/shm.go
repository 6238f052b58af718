package fabric

// shm is shared memory between ranks of a host.
var shm = Fabric{
	Name: "shm", OutlivesPeers: true, Loopback: true, Transports: []string{"shm"}, Auto: OnOneNode,
	Lacks: func(n Needs) string {
		if n.Heap {
			return "fabric shm has no alloc heap: ranks map each other's buffers, " +
				"and private memory cannot be mapped by another process"
		}
		return ""
	},
}
