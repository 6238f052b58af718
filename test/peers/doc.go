// Package peers has tests only: weir drives large programs that others wrote, which make peers
// installs into .build/peers.
package peers
