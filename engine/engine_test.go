package engine

import "testing"

// An error names what is known of where it was, and no empty part.
func TestErrorsNameWhatIsKnown(t *testing.T) {
	for want, e := range map[string]Error{
		"told":                         {Text: "told", Peer: -1},
		"shm: run: timeout":            {Fabric: "shm", Phase: "run", Text: "timeout", Peer: -1},
		"shm: put (peer 1): reset":     {Fabric: "shm", Op: "put", Phase: "run", Text: "reset", Peer: 1},
		"put: reset":                   {Op: "put", Phase: "run", Text: "reset", Peer: -1},
		"u: get (peer 2 on node b): x": {Fabric: "u", Op: "get", PeerNode: "b", Text: "x", Peer: 2},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
