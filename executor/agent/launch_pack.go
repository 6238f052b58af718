package agent

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
)

// Pack encodes a launch for its nodes. The error of a launch that is too long names its longest case.
func Pack(l engine.Launch) ([]byte, error) {
	text, err := wire.EncodeLaunch(l)
	if err != nil {
		return nil, err
	}
	return compress(text)
}

// assignment is a decoded launch task.
type assignment struct {
	LaunchTask
	launch engine.Launch
	text   []byte // of launch, as wire.EncodeLaunch encodes it, for the ranks
}

func unpack(task LaunchTask) (*assignment, error) {
	a := &assignment{LaunchTask: task}
	a.Packed = nil // frees its memory
	var err error
	if a.text, err = decompress(task.Packed, wire.MaxLaunch); err == nil {
		a.launch, err = wire.DecodeLaunch(a.text)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpacking a launch: %w", err)
	case len(a.launch.Cases) == 0:
		return nil, fmt.Errorf("launch %s has no cases", a.launch.ID)
	case len(task.Bindings) > 0 && len(task.Bindings) != len(task.Ranks):
		return nil, fmt.Errorf("launch %s has %d bindings for %d ranks", a.launch.ID, len(task.Bindings),
			len(task.Ranks))
	}
	for i, s := range task.Bindings {
		if s.Rank != task.Ranks[i] {
			return nil, fmt.Errorf("launch %s: the binding of rank %d is that of rank %d", a.launch.ID, task.Ranks[i],
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

// compressors are reused, because each takes a megabyte.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // of another level
	}
	return z
}}

// compress compresses a text with the fastest level: higher levels save a tenth more and take twice the time.
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

// decompressors are reused, because each takes 40 kB.
var decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decompress undoes compress, for texts of up to most bytes.
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
