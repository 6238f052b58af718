package fleet

import (
	"testing"

	"github.com/weir-bench/weir/executor/placement"
)

// owner is a session that only takes nodes.
type owner struct {
	Owner
	images map[string]string
}

func (o *owner) Joined(node string, member placement.Node) { o.images[node] = member.Node.Image }

// A node that joins has the image that its launcher told.
func TestImagesOfNodes(t *testing.T) {
	o := &owner{images: map[string]string{}}
	f := New(Config{Owner: o})
	f.images = map[string]string{"a": "nixl:1.5@sha256:aa"}
	for _, node := range []string{"a", "b"} {
		f.Changed(Change{node: node, member: &placement.Node{}})
	}
	if o.images["a"] != "nixl:1.5@sha256:aa" || o.images["b"] != "" {
		t.Errorf("%v", o.images)
	}
}
