package mesh

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"
)

// A process that reaches the hub by several addresses connects once, and is reported lost only once.
func TestProcessWithSeveralAddressesConnectsOnce(t *testing.T) {
	nodes := []string{"a", "b"}
	events := make(chan received, 100)
	hub, err := NewHub(nodes, 0, func(s *Spoke, message []byte, err error) { events <- received{s.Rank, message, err} })
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	address, err := hub.Address()
	if err != nil {
		t.Fatal(err)
	}
	var c contact
	if err := json.Unmarshal(address, &c); err != nil {
		t.Fatal(err)
	}
	c.Hosts = nil
	for i := range byte(8) {
		c.Hosts = append(c.Hosts, netip.AddrFrom4([4]byte{127, 0, 0, 1 + i}))
	}
	if address, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	next := func() received {
		select {
		case e := <-events:
			return e
		case <-time.After(10 * time.Second):
			t.Fatal("nothing is received")
			return received{}
		}
	}
	for range 20 { // processes of the rank
		spoke, err := Join(address, nodes, 1, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if e := next(); e.from != 1 || e.message != nil || e.err != nil {
			t.Fatalf("when it comes: %+v", e)
		}
		if err := spoke.Send([]byte("here")); err != nil {
			t.Fatal(err)
		}
		if e := next(); string(e.message) != "here" || e.err != nil {
			t.Fatalf("of its message: %+v", e)
		}
		spoke.Close()
		if e := next(); e.err == nil {
			t.Fatalf("when it goes: %+v", e)
		}
	}
	select {
	case e := <-events:
		t.Errorf("afterwards: %+v", e)
	case <-time.After(50 * time.Millisecond):
	}
}
