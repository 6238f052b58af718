package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/internal/bounded"
)

// HistogramHighest is the longest latency in a histogram, in ns. Its layout is HdrHistogram's with 3
// significant digits from 1 ns to 2⁴⁰ ns (18 minutes). It is fixed so that histograms add up exactly; the
// engine's C recorder uses the same counters.
const HistogramHighest = 1<<40 - 1

// Samples are the raw samples of one rank, case and launch.
type Samples struct {
	Case    string  `json:"case"`
	Launch  int     `json:"launch"`
	Rank    int     `json:"rank"`
	Role    string  `json:"role"`
	Ops     uint64  `json:"ops"`
	Bytes   uint64  `json:"bytes"`
	Start   int64   `json:"start_ns"` // CLOCK_MONOTONIC
	End     int64   `json:"end_ns"`
	Every   int     `json:"every"`    // sampling interval: one stamped request in this many
	ClockNS float64 `json:"clock_ns"` // cost of one clock read
	// Counts are the non-zero counters of the latency histogram, by index.
	Counts map[int]int64 `json:"-"`
	// First and Last are latencies in ns of the first and last stamped requests, in order.
	First []int64 `json:"-"`
	Last  []int64 `json:"-"`
	// Progress lists completed bytes over time, for overlap windows.
	Progress []Progress `json:"-"`
}

// Progress is the number of completed bytes at a time (ns, CLOCK_MONOTONIC).
type Progress struct {
	Time  int64
	Bytes uint64
}

var samplesMagic = []byte("WEIRSMP1")

// Write writes the samples: the magic, a JSON header with its length, then
// varints: histogram (index step, count), first, last, progress (differences).
func (s *Samples) Write(w io.Writer) error {
	head, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding samples: %w", err)
	}
	b := appendHead(nil, samplesMagic, head)
	b = binary.AppendUvarint(b, uint64(len(s.Counts)))
	last := 0
	for _, i := range slices.Sorted(maps.Keys(s.Counts)) {
		b = binary.AppendUvarint(b, uint64(i-last))
		b = binary.AppendUvarint(b, uint64(s.Counts[i]))
		last = i
	}
	for _, list := range [][]int64{s.First, s.Last} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, v := range list {
			b = binary.AppendVarint(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.Progress)))
	var p Progress
	for _, q := range s.Progress {
		b = binary.AppendVarint(b, q.Time-p.Time)
		b = binary.AppendUvarint(b, q.Bytes-p.Bytes)
		p = q
	}
	_, err = w.Write(b)
	return err
}

var errSamples = errors.New("not a samples file, or cut short")

// ReadSamples reads what Write wrote.
func ReadSamples(r io.Reader) (*Samples, error) {
	in, head, ok := readHead(r, samplesMagic)
	if !ok {
		return nil, errSamples
	}
	s := &Samples{}
	if err := json.Unmarshal(head, s); err != nil {
		return nil, fmt.Errorf("samples header: %w", err)
	}
	n, err := count(in, 1<<20)
	if err != nil {
		return nil, err
	}
	s.Counts = make(map[int]int64)
	index := uint64(0)
	for range n {
		step, err1 := binary.ReadUvarint(in)
		c, err2 := binary.ReadUvarint(in)
		if err1 != nil || err2 != nil || step > 1<<20 || c > math.MaxInt64 {
			return nil, errSamples
		}
		index += step
		s.Counts[int(index)] = int64(c)
	}
	for _, list := range []*[]int64{&s.First, &s.Last} {
		if n, err = count(in, 1<<24); err != nil {
			return nil, err
		}
		for range n {
			v, err := binary.ReadVarint(in)
			if err != nil {
				return nil, errSamples
			}
			*list = append(*list, v)
		}
	}
	if n, err = count(in, 1<<24); err != nil {
		return nil, err
	}
	var p Progress
	for range n {
		dt, err1 := binary.ReadVarint(in)
		db, err2 := binary.ReadUvarint(in)
		if err1 != nil || err2 != nil {
			return nil, errSamples
		}
		p.Time += dt
		p.Bytes += db
		s.Progress = append(s.Progress, p)
	}
	return s, nil
}

// ReadSamplesFile reads one file of a session's samples folder.
func ReadSamplesFile(path string) (*Samples, error) {
	content, err := bounded.ReadFile(path, bounded.Result)
	if err != nil {
		return nil, fmt.Errorf("reading samples: %w", err)
	}
	s, err := ReadSamples(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("reading samples %s: %w", path, err)
	}
	return s, nil
}

// DigestSamples is a digest of a launch's samples files, named relative to the session directory, in any
// order. "" if there are none.
func DigestSamples(dir string, names []string) (string, error) {
	if len(names) == 0 {
		return "", nil
	}
	all := sha256.New()
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", fmt.Errorf("reading samples: %s is not below the session directory", name)
		}
		b, err := bounded.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), bounded.Result)
		if err != nil {
			return "", fmt.Errorf("reading samples: %w", err)
		}
		sum := sha256.Sum256(b)
		all.Write(sum[:])
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// source reads bytes singly or in blocks.
type source interface {
	io.Reader
	io.ByteReader
}

func count(in source, limit uint64) (uint64, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil || n > limit {
		return 0, errSamples
	}
	return n, nil
}
