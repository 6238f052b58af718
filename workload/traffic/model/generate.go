package model

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weir-bench/weir/internal/matrix"
)

// Config are the workers that serve the requests, and the batches.
type Config struct {
	Model           *Model
	KV              DType // of the cache; "": the model's
	Prefill, Decode Parallel
	PrefillRanks    int // the first ranks; in workers of consecutive ranks
	DecodeRanks     int // the ranks after those
	Rail            bool
	BatchSize       int   // a batch is complete with this many prompts,
	MaxBatchBytes   int64 // or when its cache takes more than this; 0: no limit
	Compute         Compute
	BytesScale      float64 // factor of all cells, which are rounded to at least 1 byte; 0: 1
}

// Ranks returns the number of all ranks.
func (c *Config) Ranks() int { return c.PrefillRanks + c.DecodeRanks }

// Check validates a config.
func (c *Config) Check() error {
	if err := c.Model.Check(); err != nil {
		return err
	}
	for _, side := range []struct {
		name   string
		ranks  int
		worker Parallel
	}{{"prefill", c.PrefillRanks, c.Prefill}, {"decode", c.DecodeRanks, c.Decode}} {
		if which, err := side.worker.check(c.Model); err != nil {
			return due(side.name+"_"+which, "%s: %w", side.name, err)
		}
		if size := side.worker.Ranks(); side.ranks < size || side.ranks%size != 0 {
			return due(side.name+"_nodes", "%s: %d ranks cannot be divided into workers of %d (%s)", side.name,
				side.ranks, size, side.worker)
		}
	}
	if n := c.Ranks(); n > matrix.MaxRanks {
		return due("prefill_nodes", "%d ranks: there are at most %d", n, matrix.MaxRanks)
	}
	if _, ok := dtypes[c.kv()]; !ok {
		return due("kv_dtype", "unknown type %q: use %s", c.KV, sentence(DTypes()))
	}
	if c.BatchSize < 1 || c.MaxBatchBytes < 0 {
		return due("batch_size", "batches of %d requests and %d bytes", c.BatchSize, c.MaxBatchBytes)
	}
	if c.Rail && (c.Decode.PP*c.Decode.CP*c.Prefill.PP*c.Prefill.CP != 1 || c.Decode.TP%c.Prefill.TP != 0) {
		return due("rail_optimized", "the order by rails is for tensor parallelism alone, with the ranks of a decode worker (%s) a multiple of those of a prefill worker (%s)",
			c.Decode, c.Prefill)
	}
	if c.BytesScale != 0 && !(c.BytesScale > 0 && c.BytesScale <= 1) {
		return due("bytes_scale", "cells made smaller by a factor of %v: it is above 0 and at most 1", c.BytesScale)
	}
	return c.Compute.check()
}

func (c *Config) kv() DType {
	if c.KV == "" {
		return c.Model.DType
	}
	return c.KV
}

// local returns the rank in a decode worker for a position. With rail order a prefill rank and its receivers have the
// same index in their groups, so that they share a switch: for 4 prefill and 8 decode ranks positions 0 1 2 3 … are
// ranks 0 4 1 5 ….
func (c *Config) local(position int) int {
	if !c.Rail {
		return position
	}
	each := c.Decode.TP / c.Prefill.TP
	return position/each + position%each*c.Prefill.TP
}

// Generate makes a pattern for each batch of the requests, in order. Batches go to the prefill workers in turn. The
// decode worker of prefill worker i is ⌊i·D/P⌋ if the number P of prefill workers is a multiple of that of decode
// workers D, as in the published generator, and batch modulo D else.
//
// The sleep before a pattern is the time of its prefill. With timed requests it is the time since the worker's previous
// pattern: until the batch has arrived, and then its prefill. It excludes transfers, so a sequence lags behind the
// trace by their time.
func Generate(c Config, requests []Request) ([]matrix.Pattern, error) {
	g, err := newGenerator(c, requests)
	if err != nil {
		return nil, err
	}
	return g.patterns()
}

func newGenerator(c Config, requests []Request) (*generator, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("generating traffic: %w", err)
	}
	for i, r := range requests {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("generating traffic: request %d: %w", i, err)
		}
	}
	g := &generator{Config: c, flows: flows(c.Model, c.kv(), c.Prefill, c.Decode)}
	g.prefills, g.decodes = c.PrefillRanks/c.Prefill.Ranks(), c.DecodeRanks/c.Decode.Ranks()
	g.free = make([]float64, g.prefills)
	g.requests = g.batches(requests)
	return g, nil
}

func (g *generator) patterns() ([]matrix.Pattern, error) {
	var out []matrix.Pattern
	for _, batch := range g.requests {
		p, err := g.pattern(len(out), batch)
		if err != nil {
			return nil, fmt.Errorf("generating pattern %d: %w", len(out), err)
		}
		out = append(out, p)
	}
	return out, nil
}

type generator struct {
	Config
	flows             []flow
	requests          [][]Request // in batches
	prefills, decodes int         // numbers of workers
	free              []float64   // when each prefill worker has completed its last batch
}

// batches divides the requests. The last batch may be smaller than the others.
func (g *generator) batches(requests []Request) [][]Request {
	var out [][]Request
	first, size := 0, int64(0)
	for i, r := range requests {
		more := g.Model.KVBytes(r.ISL, g.kv())
		full := g.MaxBatchBytes > 0 && more > g.MaxBatchBytes-size
		size += more
		if full || i+1-first >= g.BatchSize || i+1 == len(requests) {
			out = append(out, requests[first:i+1])
			first, size = i+1, 0
		}
	}
	return out
}

func (g *generator) pattern(number int, batch []Request) (matrix.Pattern, error) {
	prefill := number % g.prefills
	decode := number % g.decodes
	if g.prefills%g.decodes == 0 {
		decode = prefill * g.decodes / g.prefills
	}
	m, err := g.matrix(prefill, decode, batch)
	if err != nil {
		return matrix.Pattern{}, err
	}
	p := matrix.Pattern{Matrix: m, SleepBefore: g.Compute.Seconds(g.Model, batch, g.Prefill)}
	if !sleepable(p.SleepBefore) {
		return matrix.Pattern{}, fmt.Errorf("its prefill takes %.3g s at %.3g operations per second of a GPU, and a pattern sleeps at most %d s",
			p.SleepBefore, g.Compute.FLOPS, matrix.MaxSleep)
	}
	if batch[0].Timed {
		done := math.Max(g.free[prefill], batch[len(batch)-1].Arrival) + p.SleepBefore
		p.SleepBefore = done - g.free[prefill]
		g.free[prefill] = done
	}
	if !sleepable(p.SleepBefore) {
		return matrix.Pattern{}, fmt.Errorf("its worker sleeps %.3g s before it by the times of the requests, and a pattern sleeps at most %d s",
			p.SleepBefore, matrix.MaxSleep)
	}
	p.Metadata = metadata(prefill, decode, batch)
	if g.BytesScale != 0 && g.BytesScale != 1 {
		p.Metadata = append(p.Metadata, matrix.Field{
			Key: "bytes_scale", Value: strconv.FormatFloat(g.BytesScale, 'f', -1, 64),
		})
	}
	return p, nil
}

// sleepable reports whether a pattern can sleep this long; false for NaN.
func sleepable(seconds float64) bool { return seconds >= 0 && seconds <= matrix.MaxSleep }

func (g *generator) matrix(prefill, decode int, batch []Request) (*matrix.Matrix, error) {
	cells := make([]matrix.Cell, 0, len(g.flows))
	fromFirst, toFirst := prefill*g.Prefill.Ranks(), g.PrefillRanks+decode*g.Decode.Ranks()
	for i := range g.flows {
		f := &g.flows[i]
		bytes := int64(0)
		for _, r := range batch {
			more := f.of(r.ISL, g.Model.Window)
			if bytes > math.MaxInt64-more {
				return nil, fmt.Errorf("a cell has 2^63 bytes or more")
			}
			bytes += more
		}
		if bytes > 0 { // a context rank may have none of a short prompt
			cells = append(cells, matrix.Cell{
				From: fromFirst + f.from, To: toFirst + g.local(f.to), Bytes: scaled(bytes, g.BytesScale),
			})
		}
	}
	return matrix.New(g.Ranks(), cells)
}

// metadata are the facts about a pattern. isl is the published field: the sum of the lengths.
func metadata(prefill, decode int, batch []Request) []matrix.Field {
	isl, osl := 0, 0
	for _, r := range batch {
		isl, osl = isl+r.ISL, osl+r.OSL
	}
	out := []matrix.Field{{Key: "isl", Value: strconv.Itoa(isl)}}
	if osl > 0 {
		out = append(out, matrix.Field{Key: "osl", Value: strconv.Itoa(osl)})
	}
	out = append(out,
		matrix.Field{Key: "requests", Value: strconv.Itoa(len(batch))},
		matrix.Field{Key: "prefill_worker", Value: strconv.Itoa(prefill)},
		matrix.Field{Key: "decode_worker", Value: strconv.Itoa(decode)})
	if last := batch[len(batch)-1]; last.Timed {
		out = append(out, matrix.Field{Key: "arrival_sec", Value: strconv.FormatFloat(last.Arrival, 'f', -1, 64)})
	}
	return out
}
