package fabric

// shm is memory that the ranks of a host share.
var shm = Fabric{
	Name: "shm", OutlivesPeers: true, Loopback: true, Auto: OnOneNode,
	Lacks: func(n Needs) string {
		if n.Heap {
			return "fabric shm has no alloc heap: ranks map each other's buffers, " +
				"and private memory cannot be mapped by another process"
		}
		return ""
	},
}
