package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
)

// ErrChanged says that a document is not as it was written.
var ErrChanged = errors.New("the document was changed after it was written")

// A seal is a digest of what a document or one of its cases says, whatever the order
// of cases, launches, samples and assertions and however the JSON is spelled. It shows
// that something was edited or is gone; it is no signature: who makes all of them anew
// passes. Documents of older versions have none. What a later version adds to documents
// becomes part of a seal only where it says something, so that older seals stay true.

// Verify holds every case and the document itself against their seals, and the cases
// against the plan that the document names: what was taken out must not count as what
// never failed. What it finds is ErrChanged and names the case.
func (d *Document) Verify() error {
	if len(d.Cases) != d.Plan.Cases {
		return fmt.Errorf("%w: its plan has %d cases and it holds %d", ErrChanged, d.Plan.Cases, len(d.Cases))
	}
	sealed := d.Seal != "" || slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Seal != "" })
	if !sealed {
		return nil
	}
	seals := d.caseSeals()
	for i, c := range d.Cases {
		if c.Seal != seals[i] {
			return fmt.Errorf("%w: case %s is not what its seal says", ErrChanged, c.Key)
		}
	}
	if d.Seal != d.sealOver(seals) {
		return fmt.Errorf("%w: what stands outside of its cases is not what its seal says", ErrChanged)
	}
	return nil
}

// seal gives the cases and the document their seals.
func (d *Document) seal() {
	seals := d.caseSeals()
	for i, c := range d.Cases {
		c.Seal = seals[i]
	}
	d.Seal = d.sealOver(seals)
}

func (d *Document) caseSeals() []string {
	seals := make([]string, len(d.Cases))
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for first := range workers {
		wg.Go(func() {
			var w sealer
			for i := first; i < len(d.Cases); i += workers {
				seals[i] = w.ofCase(d.Cases[i])
			}
		})
	}
	wg.Wait()
	return seals
}

// sealOver is the seal of a document whose cases have these.
func (d *Document) sealOver(cases []string) string {
	frame := *d
	frame.Cases, frame.Assertions, frame.Seal = nil, nil, ""
	frame.fill()
	var w sealer
	w.json(frame)
	w.unordered(len(d.Assertions), func(i int) { w.assertion(d.Assertions[i]) })
	for _, s := range slices.Sorted(slices.Values(cases)) {
		w.text(s)
	}
	return w.sum(0)
}

// sealer collects what a seal is of, each text and list with its length before it.
type sealer struct {
	b     []byte
	names []string // of settings
	ways  []Transport
	known []byte // ways as JSON
}

// sum is the digest of what was collected from a place on, which is taken away.
func (w *sealer) sum(from int) string {
	sum := sha256.Sum256(w.b[from:])
	w.b = w.b[:from]
	return "sha256:" + hex.EncodeToString(sum[:])
}

// unordered adds elements whose order says nothing.
func (w *sealer) unordered(n int, add func(i int)) {
	sums := make([][32]byte, n)
	for i := range sums {
		from := len(w.b)
		add(i)
		sums[i] = sha256.Sum256(w.b[from:])
		w.b = w.b[:from]
	}
	slices.SortFunc(sums, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	w.number(float64(n))
	for i := range sums {
		w.b = append(w.b, sums[i][:]...)
	}
}

func (w *sealer) text(texts ...string) {
	for _, s := range texts {
		w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
	}
}

func (w *sealer) number(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			v = math.NaN() // there are many, and a document has one
		}
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
	}
}

func (w *sealer) bool(values ...bool) {
	for _, v := range values {
		b := byte(0)
		if v {
			b = 1
		}
		w.b = append(w.b, b)
	}
}

// json adds what is rare, or has values of any type. What JSON cannot say cannot have
// been read, and writing it fails for itself.
func (w *sealer) json(v any) {
	b, _ := json.Marshal(v)
	w.text(string(b))
}

func (w *sealer) ofCase(c *Case) string {
	w.text(c.Key, c.ID, c.Run, c.Workload, c.Status, c.Reason, c.Invalid)
	w.settings(c.Axes)
	w.settings(c.Options)
	w.json(filled(c.Env))
	w.number(float64(len(c.AxisOrder)), float64(c.Made))
	w.text(c.AxisOrder...)
	w.unordered(len(c.Launches), func(i int) { w.launch(c.Launches[i]) })
	w.unordered(len(c.Assertions), func(i int) { w.assertion(c.Assertions[i]) })
	w.number(float64(c.Metrics.Len()))
	for name, m := range c.Metrics.All() {
		w.text(name, m.Unit, m.Better)
		w.number(float64(m.N), m.Value, m.Median, m.Mean, m.CV, m.Confidence)
		w.interval(m.CI)
	}
	return w.sum(0)
}

func filled[V any](m map[string]V) map[string]V {
	dict(&m)
	return m
}

// settings adds values as they are read back: sizes as texts, numbers as floats.
func (w *sealer) settings(m map[string]any) {
	w.number(float64(len(m)))
	w.names = slices.AppendSeq(w.names[:0], maps.Keys(m))
	slices.Sort(w.names)
	for _, name := range w.names {
		w.text(name)
		v := m[name]
		switch v.(type) {
		case string, float64, bool:
		default:
			if b, err := json.Marshal(v); err == nil {
				v, _ = decoded[any](b)
			}
		}
		switch v := v.(type) {
		case string:
			w.text("text", v)
		case float64:
			w.text("number")
			w.number(v)
		default:
			w.json(v)
		}
	}
}

func (w *sealer) launch(l *Launch) {
	w.number(float64(l.Index), l.Duration)
	w.text(l.Started.UTC().Format(timeLayout), l.Status, l.Fabric, l.FabricReason, l.Transport, l.SamplesDigest)
	w.bool(l.Verified, l.Simulated, l.Retried, l.Resumed)
	w.number(float64(len(l.Nodes)))
	w.text(l.Nodes...)
	samples := l.Samples
	if !slices.IsSorted(samples) {
		samples = slices.Sorted(slices.Values(samples))
	}
	w.number(float64(len(samples)))
	w.text(samples...)
	if len(l.Transports) == 0 || len(w.ways) != len(l.Transports) || &w.ways[0] != &l.Transports[0] {
		w.ways = l.Transports
		w.known, _ = json.Marshal(l.Transports)
	}
	w.text(string(w.known))
	if l.Initiators != 0 || len(l.Ranks) > 0 {
		w.text("ranks")
		w.number(float64(l.Initiators))
		w.unordered(len(l.Ranks), func(i int) {
			r := l.Ranks[i]
			w.number(float64(r.Rank), float64(r.Bytes), r.Seconds, r.Bandwidth)
		})
	}
	if l.Failure != nil || l.Ignored != nil || l.Played != nil || l.Load != nil {
		w.json([]any{l.Failure, l.Ignored, l.Played, l.Load})
	}
	if l.Seats != nil || l.Moved != nil {
		w.text("place")
		w.json([]any{l.Seats, l.Moved})
	}
	if len(l.Variables) > 0 {
		w.text("variables")
		w.json(l.Variables)
	}
	if l.MemoryNodes != nil {
		w.text("memory nodes")
		w.json(l.MemoryNodes)
	}
	if l.WorkingSet != nil {
		w.text("working set")
		w.json(l.WorkingSet)
	}
	if l.SlowestPair != nil {
		w.text("slowest pair")
		w.json(l.SlowestPair)
	}
	if len(l.Counters) > 0 {
		w.text("counters")
		w.json(l.Counters)
	}
	w.number(float64(l.Metrics.Len()))
	for name, v := range l.Metrics.All() {
		w.text(name)
		w.number(v)
	}
}

// timeLayout tells instants apart to the nanosecond, as JSON does.
const timeLayout = "2006-01-02T15:04:05.999999999Z07:00"

func (w *sealer) assertion(a *AssertionVerdict) {
	w.text(a.Name, a.Text, a.Lowered, a.File, a.Key(), string(a.Verdict), a.Message)
	w.number(float64(a.Line), float64(len(a.Looks)))
	for _, n := range a.Looks {
		w.number(float64(n))
	}
	w.bool(a.Observed != nil)
	if o := a.Observed; o != nil {
		w.text(o.Unit)
		w.number(o.Value, float64(o.N), o.Confidence)
		w.interval(o.CI)
	}
}

func (w *sealer) interval(ci *[2]float64) {
	w.bool(ci != nil)
	if ci != nil {
		w.number(ci[0], ci[1])
	}
}
