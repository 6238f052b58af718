package fabric

// tcp is sockets. Those of ranks on one host are the kernel's loopback.
var tcp = Fabric{Name: "tcp", Loopback: true, Network: true, Auto: Anywhere}
