package agent

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"

	"weir/engine"
	"weir/executor/wire"
)

// Pack gives a launch the form in which it is shared with its nodes. A launch that is
// too long to travel is an error that names the case that has the most of it.
func Pack(l engine.Launch) ([]byte, error) {
	text, err := wire.EncodeLaunch(l)
	if err != nil {
		return nil, err
	}
	return compress(text)
}

// assignment is a launch as it came to a node.
type assignment struct {
	LaunchTask
	launch engine.Launch
	text   []byte // of launch, for the ranks
}

// unpack reads what Pack has written and what a node is to do of it.
func unpack(task LaunchTask, packed []byte) (*assignment, error) {
	a := &assignment{LaunchTask: task}
	var err error
	if a.text, err = decompress(packed, wire.MaxLaunch); err == nil {
		a.launch, err = wire.DecodeLaunch(a.text)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpacking a launch: %w", err)
	case len(a.launch.Cases) == 0:
		return nil, fmt.Errorf("launch %s has no cases", a.launch.ID)
	case len(task.Seats) > 0 && len(task.Seats) != len(task.Ranks):
		return nil, fmt.Errorf("launch %s has %d seats for %d ranks", a.launch.ID, len(task.Seats), len(task.Ranks))
	}
	for i, s := range task.Seats {
		if s.Rank != task.Ranks[i] {
			return nil, fmt.Errorf("launch %s: the seat of rank %d is that of rank %d", a.launch.ID, task.Ranks[i],
				s.Rank)
		}
	}
	for _, r := range task.Ranks {
		if r < 0 || r >= a.launch.Ranks {
			return nil, fmt.Errorf("launch %s: rank %d of %d", a.launch.ID, r, a.launch.Ranks)
		}
	}
	return a, nil
}

// compressors take a megabyte each, and a launch has a task for each of its nodes.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // of another level
	}
	return z
}}

// compress makes a text shorter: the cases of a large sweep are near copies of each
// other, and the digits of a matrix take half. More effort gains a tenth and takes
// twice the time.
func compress(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&b)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// decompressors take 40 kilobytes each, twice for each launch of a node.
var decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decompress undoes compress, of texts up to a length.
func decompress(b []byte, most int64) ([]byte, error) {
	z := decompressors.Get().(*gzip.Reader)
	defer decompressors.Put(z)
	if err := z.Reset(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, most+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it is cut short")
	case err != nil:
		return nil, err
	case int64(len(text)) > most:
		return nil, fmt.Errorf("it has more than %d bytes without compression", most)
	}
	return text, nil
}
