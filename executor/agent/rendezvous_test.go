package agent

import (
	"testing"
)

func TestAddressesAreReadByRank(t *testing.T) {
	text := encodeAddresses(map[int][]byte{2: []byte("two"), 0: {}})
	all := make([][]byte, 3)
	if n, err := DecodeAddresses(text, all); n != 2 || err != nil || all[0] == nil || all[1] != nil ||
		string(all[2]) != "two" {
		t.Errorf("%d: %q, %v", n, all, err)
	}
	if _, err := DecodeAddresses(text, all); err == nil {
		t.Error("a rank has two addresses")
	}
	if _, err := DecodeAddresses(text, make([][]byte, 2)); err == nil {
		t.Error("a rank that there is not has an address")
	}
	for cut := 1; cut < len(text); cut++ {
		if n, err := DecodeAddresses(text[:cut], make([][]byte, 3)); err == nil && n == 2 {
			t.Errorf("%d bytes of %d are read", cut, len(text))
		}
	}
}

func FuzzDecodeAddresses(f *testing.F) {
	f.Add(encodeAddresses(map[int][]byte{2: []byte("two"), 0: {}}), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, ranks uint8) {
		all := make([][]byte, ranks)
		known, err := DecodeAddresses(text, all)
		if err != nil {
			return
		}
		of := map[int][]byte{}
		for rank, address := range all {
			if address != nil {
				of[rank] = address
			}
		}
		again := make([][]byte, ranks)
		if n, err := DecodeAddresses(encodeAddresses(of), again); n != known || err != nil {
			t.Errorf("%d of %d are read again: %v", n, known, err)
		}
		if len(of) != known {
			t.Errorf("%d addresses of %d", len(of), known)
		}
	})
}
