package fabric

// tcp is sockets. Those of ranks on one host are the kernel's loopback.
var tcp = Fabric{Name: "tcp", OutlivesPeers: true, Loopback: true, Network: true, Auto: Anywhere}
