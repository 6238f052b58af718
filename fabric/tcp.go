package fabric

// tcp are sockets. Ranks of one host use the kernel's loopback.
var tcp = Fabric{
	Name: "tcp", OutlivesPeers: true, Loopback: true, Transports: []string{"tcp"}, Network: true, Auto: Anywhere,
}
