package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// frame is a message of any call. Both sides have the same version of weir. On the wire it is a line of JSON, and
// behind it Data.
type frame struct {
	Hello    *hello  `json:"hello,omitempty"`    // an agent's first frame
	Welcome  *uint64 `json:"welcome,omitempty"`  // answers hello: the number of received pieces, as in hello
	Piece    *piece  `json:"piece,omitempty"`    // its bytes are Data
	Taken    uint64  `json:"taken,omitempty"`    // number of the last piece of the last message that was taken
	Bye      bool    `json:"bye,omitempty"`      // an agent's last frame
	Leave    string  `json:"leave,omitempty"`    // why the agent must go, and not come back
	Farewell bool    `json:"farewell,omitempty"` // answers bye, and hello of an instance that has said bye
	Borrow   string  `json:"borrow,omitempty"`   // the name of a launch: the first frame of Lend
	Data     []byte  `json:"-"`
}

type hello struct {
	Session  string `json:"session"`
	Node     string `json:"node"`
	Instance string `json:"instance"`
	// Received is the number of the coordinator's last piece that has come, over all connections of the instance.
	Received uint64 `json:"received"`
}

// piece is a part of a message: its head and then its body are cut into equal pieces; the last one may be shorter.
type piece struct {
	Number uint64 `json:"number"`          // from 1, over all messages of one direction of the instance
	Start  *start `json:"start,omitempty"` // of the first piece of a message
}

// start has the sizes of a message in bytes.
type start struct {
	Head uint64 `json:"head"`
	Body uint64 `json:"body"`
}

// codec is the encoding of frames for gRPC. What is sent is not copied: nothing changes the bytes of a message.
type codec struct{}

func (codec) Name() string { return "weir" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(append(line, '\n')), mem.SliceBuffer(v.(*frame).Data)}, nil
}

func (codec) Unmarshal(b mem.BufferSlice, v any) error {
	line, data, ok := bytes.Cut(b.Materialize(), []byte("\n"))
	if !ok {
		return errors.New("a frame without a line")
	}
	f := v.(*frame)
	if err := json.Unmarshal(line, f); err != nil {
		return err
	}
	f.Data = data
	return nil
}

// frames is either side of a call.
type frames interface {
	Context() context.Context
	Send(*frame) error
	Recv() (*frame, error)
}

// The calls of an agent. Heartbeat is not part of Attach, as signs of life would wait behind pieces there.
const (
	attachCall    = "Attach"
	heartbeatCall = "Heartbeat"
	lendCall      = "Lend"
	serviceName   = "weir.Link"
)

// service describes the calls that a coordinator answers.
func service(answer map[string]func(frames) error) *grpc.ServiceDesc {
	d := &grpc.ServiceDesc{ServiceName: serviceName, HandlerType: (*any)(nil)}
	for name, do := range answer {
		d.Streams = append(d.Streams, grpc.StreamDesc{
			StreamName: name, ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, s grpc.ServerStream) error {
				return do(&grpc.GenericServerStream[frame, frame]{ServerStream: s})
			},
		})
	}
	return d
}

// call begins a call of an agent.
func call(ctx context.Context, c *grpc.ClientConn, name string, options ...grpc.CallOption) (frames, error) {
	s, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/"+name,
		options...)
	if err != nil {
		return nil, err
	}
	return &grpc.GenericClientStream[frame, frame]{ClientStream: s}, nil
}
