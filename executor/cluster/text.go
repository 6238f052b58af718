package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// partSize is how much of a long text one key has: etcd takes 1.5 MiB in a request, and
	// what is read is read by many.
	partSize = 512 << 10
	// maxParts are those of 64 MiB that could not be compressed.
	maxParts = 130
	// shortText is what costs a reader, and etcd, no more than the words of asking for it
	shortText = 4 << 10
)

// Text says where a text is that may be longer than one value of etcd: here, or in
// several keys. Whoever believes who says so can believe the text.
type Text struct {
	Inline []byte `json:"inline,omitempty"`
	Parts  *Parts `json:"parts,omitempty"`
}

// Parts are the keys in which a text lies.
type Parts struct {
	Bytes int      `json:"bytes"`
	Sums  [][]byte `json:"sums"` // of each part: SHA-256
}

// TextFor says how a text will lie for so many readers, each of whom is told apart: in
// what they are told, if it is short or makes less than a part in all.
func TextFor(text []byte, readers int) Text {
	if len(text) <= shortText || len(text)*readers <= partSize {
		return Text{Inline: text}
	}
	p := &Parts{Bytes: len(text)}
	for i := range p.count() {
		sum := sha256.Sum256(p.of(text, i))
		p.Sums = append(p.Sums, sum[:])
	}
	return Text{Parts: p}
}

func (p *Parts) count() int { return (p.Bytes + partSize - 1) / partSize }

// of is a part of the text.
func (p *Parts) of(text []byte, i int) []byte {
	return text[i*partSize : min((i+1)*partSize, p.Bytes)]
}

func (t Text) check() error {
	p := t.Parts
	switch {
	case p == nil && len(t.Inline) == 0:
		return errors.New("it is nowhere")
	case p == nil && len(t.Inline) > partSize, p != nil && t.Inline != nil:
		return fmt.Errorf("%d bytes are not in parts", len(t.Inline))
	case p != nil && (p.Bytes < 1 || p.Bytes > maxParts*partSize || len(p.Sums) != p.count()):
		return fmt.Errorf("%d bytes in %d parts of %d: at most %d parts are allowed", p.Bytes, len(p.Sums), partSize,
			maxParts)
	}
	return nil
}

// partKey sorts as numbers do.
func partKey(dir string, i int) string { return fmt.Sprintf("%s%04d", dir, i) }

// lay writes the parts of a text, if it has any.
func (d *door) lay(ctx context.Context, dir string, t Text, text []byte) error {
	if err := t.check(); err != nil || t.Parts == nil {
		return err
	}
	for i := range t.Parts.Sums {
		if err := d.put(ctx, partKey(dir, i), t.Parts.of(text, i)); err != nil {
			return fmt.Errorf("writing part %d of %d: %w", i+1, len(t.Parts.Sums), err)
		}
	}
	return nil
}

// fetch reads a text, many parts at a time. A part that is not there, or not as it was
// written, is an error that says which.
func (d *door) fetch(ctx context.Context, dir string, t Text) ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Parts == nil {
		return t.Inline, nil
	}
	text := make([]byte, 0, t.Parts.Bytes)
	for first := 0; first < len(t.Parts.Sums); first += pageKeys {
		last := min(first+pageKeys, len(t.Parts.Sums))
		there := map[string][]byte{}
		err := d.try(ctx, func(ctx context.Context) error {
			got, err := d.client.Get(ctx, partKey(dir, first), clientv3.WithRange(partKey(dir, last)))
			if err == nil {
				for _, kv := range got.Kvs {
					there[string(kv.Key)] = kv.Value
				}
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("parts %d to %d of %d: %w", first+1, last, len(t.Parts.Sums), err)
		}
		for i := first; i < last; i++ {
			part, ok := there[partKey(dir, i)]
			if text, err = t.Parts.add(text, i, part, ok); err != nil {
				return nil, fmt.Errorf("part %d of %d: %w", i+1, len(t.Parts.Sums), err)
			}
		}
	}
	return text, nil
}

// add adds a part to those before it, if it is the one that was written.
func (p *Parts) add(text []byte, i int, part []byte, there bool) ([]byte, error) {
	size := min(partSize, p.Bytes-i*partSize)
	sum := sha256.Sum256(part)
	switch {
	case !there:
		return nil, errors.New("it is not in etcd")
	case len(part) != size:
		return nil, fmt.Errorf("it has %d bytes and was written with %d", len(part), size)
	case !bytes.Equal(sum[:], p.Sums[i]):
		return nil, errors.New("it is not what was written: its checksum differs")
	}
	return append(text, part...), nil
}

// Share writes what all nodes of a task need of it, as t says that it lies: before the
// task is placed, so that who sees it can read all. Forget deletes it with the task.
func (s *Session) Share(ctx context.Context, task string, t Text, text []byte) error {
	err := checkName("task", task)
	if err == nil {
		err = s.lay(ctx, s.sharedKey(task), t, text)
	}
	if err != nil {
		return fmt.Errorf("sharing %s: %w", task, err)
	}
	return nil
}

// Shared reads what was shared of a task.
func (s *Session) Shared(ctx context.Context, task string, t Text) ([]byte, error) {
	text, err := s.fetch(ctx, s.sharedKey(task), t)
	if err != nil {
		return nil, fmt.Errorf("reading what is shared of %s: %w", task, err)
	}
	return text, nil
}
