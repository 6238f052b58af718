//go:build cgo

package native

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"syscall"

	"github.com/weir-bench/weir/engine"
)

// sealAddress appends a checksum to an address: libraries trust addresses, and some crash on an invalid one.
func sealAddress(address []byte) []byte {
	return binary.LittleEndian.AppendUint32(address, crc32.ChecksumIEEE(address))
}

// openAddress verifies the checksum and removes it.
func (m *member) openAddress(peer int, sealed []byte) ([]byte, error) {
	if n := len(sealed) - 4; n >= 0 && binary.LittleEndian.Uint32(sealed[n:]) == crc32.ChecksumIEEE(sealed[:n]) {
		return sealed[:n], nil
	}
	return nil, &engine.Error{Fabric: m.fabric, Op: "connect", Phase: "connect", Peer: peer, Code: -int(syscall.EPROTO),
		Text: "its address was damaged in transit: its checksum does not match"}
}

// connectTo connects to all ranks. check verifies and removes what precedes the fabric's address of a peer.
func (m *member) connectTo(addresses [][]byte, check func(peer int, address []byte) ([]byte, error)) error {
	if len(addresses) != len(m.nodes) {
		return fmt.Errorf("%d addresses for %d ranks", len(addresses), len(m.nodes))
	}
	blobs := make([][][]byte, len(addresses))
	for i, a := range addresses {
		all, err := m.openAddress(i, a)
		if err == nil {
			all, err = check(i, all)
		}
		if err == nil {
			blobs[i], err = m.split(i, all)
		}
		if err != nil {
			return err
		}
	}
	return m.connect(blobs)
}
