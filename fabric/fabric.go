// Package fabric knows the ways between ranks by name.
package fabric

import "slices"

// names are the fabrics that a host may have.
var names = []string{"shm", "tcp", "ucx", "libfabric", "nixl"}

// Names are the fabrics that a host may have.
func Names() []string { return slices.Clone(names) }
