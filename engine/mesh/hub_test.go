package mesh

import (
	"net"
	"testing"
	"time"
)

// Any number of unidentified connections, with a wrong token or silent, does not keep the processes of the launch from
// connecting.
func TestUnidentifiedConnectionsDelayNoProcessOfAHub(t *testing.T) {
	nodes := []string{"a", "a"}
	came := make(chan int, 2)
	h, err := NewHub(nodes, 0, func(s *Spoke, message []byte, err error) {
		if message == nil && err == nil {
			came <- s.Rank
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	unanswered(t, h.mesh)
	for range 2 * maxPending {
		conn, err := net.Dial("tcp", h.mesh.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	address, err := h.Address()
	if err != nil {
		t.Fatal(err)
	}
	spoke, err := Join(address, nodes, 1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer spoke.Close()
	if rank := <-came; rank != 1 || len(came) > 0 {
		t.Errorf("rank %d has come, and %d more", rank, len(came))
	}
	if h.Close(); len(came) > 0 {
		t.Errorf("rank %d has come", <-came)
	}
}
