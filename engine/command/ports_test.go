package command

import (
	"net"
	"testing"
)

func TestReservedPortsAreExclusive(t *testing.T) {
	r, err := reserve([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	numbers := r.numbers()
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: numbers["a"]}
	if numbers["a"] == numbers["b"] {
		t.Error("two names have one port")
	}
	if l, err := net.ListenTCP("tcp", at); err == nil {
		l.Close()
		t.Error("a held port was free")
	}
	if conn, err := net.DialTCP("tcp", nil, at); err == nil {
		conn.Close()
		t.Error("a held port is listened on")
	}
	r.release()
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
