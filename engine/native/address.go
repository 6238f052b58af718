//go:build cgo

package native

import (
	"encoding/binary"
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
