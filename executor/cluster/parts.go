package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

const (
	// partSize is how much of a long text one key has: etcd takes 1.5 MiB in a request.
	partSize = 1 << 20
	// maxParts are those of 64 MiB that could not be compressed.
	maxParts = 65
)

// Parts says how a text that is longer than one value of etcd may be lies in several
// keys. Who placed a task put it into the task's specification, so that nobody takes
// what is not whole for it.
type Parts struct {
	Bytes int      `json:"bytes"`
	Sums  []uint32 `json:"sums"` // of each part: CRC-32C
}

// PartsOf says how a text will lie in etcd.
func PartsOf(text []byte) Parts {
	p := Parts{Bytes: len(text)}
	for i := range p.count() {
		from, to := p.bounds(i)
		p.Sums = append(p.Sums, sum(text[from:to]))
	}
	return p
}

func (p Parts) count() int { return (p.Bytes + partSize - 1) / partSize }

// bounds are where a part lies in the text.
func (p Parts) bounds(i int) (from, to int) {
	return i * partSize, min((i+1)*partSize, p.Bytes)
}

func (p Parts) check() error {
	if p.Bytes < 1 || p.Bytes > maxParts*partSize || len(p.Sums) != p.count() {
		return fmt.Errorf("%d bytes in %d parts of %d: at most %d parts are allowed", p.Bytes, len(p.Sums), partSize, maxParts)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(part []byte) uint32 { return crc32.Checksum(part, castagnoli) }

// Share writes what all nodes of a task need of it, part by part: before the task is
// placed, so that who sees it can read all. Forget deletes it with the task.
func (s *Session) Share(ctx context.Context, task string, text []byte) error {
	if err := checkName("task", task); err != nil {
		return err
	}
	p := PartsOf(text)
	if err := p.check(); err != nil {
		return fmt.Errorf("sharing %s: %w", task, err)
	}
	for i := range p.Sums {
		from, to := p.bounds(i)
		if err := s.put(ctx, s.sharedKey(task)+strconv.Itoa(i), string(text[from:to])); err != nil {
			return fmt.Errorf("sharing %s: writing part %d of %d: %w", task, i+1, len(p.Sums), err)
		}
	}
	return nil
}

// Shared reads what was shared of a task. A part that is not there, or not as it was
// written, is an error that says which.
func (s *Session) Shared(ctx context.Context, task string, p Parts) ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("reading what is shared of %s: %w", task, err)
	}
	text := make([]byte, 0, p.Bytes)
	for i, want := range p.Sums {
		part, err := s.part(ctx, s.sharedKey(task)+strconv.Itoa(i))
		from, to := p.bounds(i)
		switch {
		case err != nil:
		case part == nil:
			err = errors.New("it is not in etcd")
		case len(part) != to-from:
			err = fmt.Errorf("it has %d bytes and was written with %d", len(part), to-from)
		case sum(part) != want:
			err = errors.New("it is not what was written: its checksum differs")
		}
		if err != nil {
			return nil, fmt.Errorf("reading what is shared of %s: part %d of %d: %w", task, i+1, len(p.Sums), err)
		}
		text = append(text, part...)
	}
	return text, nil
}

// part is the value of a key, nil if there is none.
func (s *Session) part(ctx context.Context, key string) ([]byte, error) {
	got, err := s.client.Get(ctx, key)
	if err != nil || len(got.Kvs) == 0 {
		return nil, err
	}
	return got.Kvs[0].Value, nil
}
