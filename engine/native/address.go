package native

import (
	"encoding/binary"
	"hash/crc32"
	"syscall"

	"weir/engine"
)

// sealAddress ends an address with its checksum: libraries take what they are given for
// an address, and some do not survive what is none.
func sealAddress(address []byte) []byte {
	return binary.LittleEndian.AppendUint32(address, crc32.ChecksumIEEE(address))
}

// openAddress cuts it off again.
func (m *member) openAddress(peer int, sealed []byte) ([]byte, error) {
	if n := len(sealed) - 4; n >= 0 && binary.LittleEndian.Uint32(sealed[n:]) == crc32.ChecksumIEEE(sealed[:n]) {
		return sealed[:n], nil
	}
	return nil, &engine.Error{Fabric: m.fabric, Op: "connect", Phase: "connect", Peer: peer, Code: -int(syscall.EPROTO),
		Text: "its address was damaged on its way: it is not what the rank said"}
}
