package link

import (
	"context"
	"net"
	"testing"
)

func TestStrangersAreClosedThatComeWhenTheSessionIsOver(t *testing.T) {
	life, end := context.WithCancel(t.Context())
	end()
	s := &Server{life: life, strangers: make(chan struct{}, 1)}
	for range 1000 {
		s.strangers <- struct{}{}
		here, there := net.Pipe()
		<-s.stranger(here).left
		if _, err := there.Read(make([]byte, 1)); err == nil {
			t.Fatal("the connection is open")
		}
	}
}
