package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// BlockTokens is the number of tokens of a hash id's block.
const BlockTokens = 512

// Limits of a trace.
const (
	MaxRows   = 1 << 20
	MaxTokens = 1 << 20 // of an input, and of an output
)

// Row is a request of a trace.
type Row struct {
	At            int64 // ns after the first row
	Input, Output int   // tokens
	// Blocks are the hash ids of the blocks of its input; equal ids mean equal text. The last block may be shorter.
	// nil: the trace has none.
	Blocks []int64
}

// ReadTrace reads the requests of a trace. Two forms are known, distinguished by the first line:
//
//   - JSON lines as Mooncake publishes them: timestamp in milliseconds, input_length,
//     output_length and hash_ids, which may be missing in all lines; other keys are skipped
//   - CSV as Azure publishes it: TIMESTAMP,ContextTokens,GeneratedTokens with times as
//     2023-11-16 18:15:46.6805900
//
// Times do not go back. Errors name the line.
func ReadTrace(content []byte) ([]Row, error) {
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	var rows []Row
	var parse func(line []byte) (Row, error)
	for number := 1; len(content) > 0; number++ {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if parse == nil {
			var header bool
			var err error
			if parse, header, err = formOf(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if header {
				continue
			}
		}
		row, err := parse(line)
		if err == nil {
			err = row.check(rows)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("there are no requests in the trace")
	}
	return rows, nil
}

// formOf chooses the reader of a trace by its first line, which may be a header.
func formOf(line []byte) (parse func([]byte) (Row, error), header bool, err error) {
	if line[0] == '{' {
		return new(mooncake).parse, false, nil
	}
	a, err := azureHeader(string(line))
	if err != nil {
		return nil, false, err
	}
	return a.parse, true, nil
}

// check validates a row, also against the rows before it.
func (r Row) check(before []Row) error {
	switch {
	case r.Input < 1 || r.Input > MaxTokens:
		return fmt.Errorf("an input of %d tokens is not from 1 to %d", r.Input, MaxTokens)
	case r.Output < 1 || r.Output > MaxTokens:
		return fmt.Errorf("an output of %d tokens is not from 1 to %d", r.Output, MaxTokens)
	case len(before) == MaxRows:
		return fmt.Errorf("there are more than %d requests", MaxRows)
	case len(before) > 0 && r.At < before[len(before)-1].At:
		return fmt.Errorf("the request comes before the one above it: sort the lines by time")
	case len(before) > 0 && (r.Blocks == nil) != (before[0].Blocks == nil):
		return fmt.Errorf("either all requests have hash_ids or none has")
	case r.Blocks == nil:
		return nil
	}
	if last := r.Input - (len(r.Blocks)-1)*BlockTokens; last < 1 || last > BlockTokens {
		return fmt.Errorf("%d hash_ids stand for %d to %d tokens (blocks of %d), and input_length is %d", len(r.Blocks),
			max(0, len(r.Blocks)-1)*BlockTokens+1, len(r.Blocks)*BlockTokens, BlockTokens, r.Input)
	}
	return nil
}

// mooncake reads lines of kvcache-ai/Mooncake's traces.
type mooncake struct {
	first   float64 // timestamp of the first line
	started bool
}

func (m *mooncake) parse(line []byte) (Row, error) {
	var row struct {
		Timestamp *float64 `json:"timestamp"` // ms
		Input     *int     `json:"input_length"`
		Output    *int     `json:"output_length"`
		Blocks    []int64  `json:"hash_ids"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return Row{}, err
	}
	if row.Timestamp == nil || row.Input == nil || row.Output == nil {
		return Row{}, fmt.Errorf("a request has a timestamp in milliseconds, an input_length and an output_length")
	}
	if !m.started {
		m.first, m.started = *row.Timestamp, true
	}
	at := math.Round((*row.Timestamp - m.first) * 1e6)
	if !(math.Abs(at) < maxTime) {
		return Row{}, fmt.Errorf("timestamp %v ms is more than 104 days from the first", *row.Timestamp)
	}
	return Row{int64(at), *row.Input, *row.Output, row.Blocks}, nil
}

// azure has the indices of the columns of a CSV trace.
type azure struct {
	at, input, output int
	count             int
	first             *time.Time
}

func azureHeader(line string) (*azure, error) {
	a := &azure{at: -1, input: -1, output: -1}
	names := cellsOf(line)
	for i, name := range names {
		switch strings.ToLower(name) {
		case "timestamp":
			a.at = i
		case "contexttokens":
			a.input = i
		case "generatedtokens":
			a.output = i
		}
	}
	if a.at < 0 || a.input < 0 || a.output < 0 {
		return nil, fmt.Errorf("the trace is neither JSON lines with timestamp, input_length and output_length nor CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens")
	}
	a.count = len(names)
	return a, nil
}

// cellsOf returns the cells of a line of CSV, which have no commas of their own, without blanks and quotes.
func cellsOf(line string) []string {
	cells := strings.Split(line, ",")
	for i, cell := range cells {
		cells[i] = strings.Trim(cell, "\" \t")
	}
	return cells
}

func (a *azure) parse(line []byte) (Row, error) {
	cells := cellsOf(string(line))
	if len(cells) != a.count {
		return Row{}, fmt.Errorf("%d columns, and the header has %d", len(cells), a.count)
	}
	at, err := azureTime(cells[a.at])
	if err != nil {
		return Row{}, err
	}
	if a.first == nil {
		a.first = &at
	}
	r := Row{At: int64(at.Sub(*a.first))} // Sub ends at 292 years
	if !(math.Abs(float64(r.At)) < maxTime) {
		return Row{}, fmt.Errorf("TIMESTAMP %s is more than 104 days from the first", cells[a.at])
	}
	if r.Input, err = strconv.Atoi(cells[a.input]); err != nil {
		return Row{}, fmt.Errorf("ContextTokens: %q is not a whole number", cells[a.input])
	}
	if r.Output, err = strconv.Atoi(cells[a.output]); err != nil {
		return Row{}, fmt.Errorf("GeneratedTokens: %q is not a whole number", cells[a.output])
	}
	return r, nil
}

func azureTime(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil { // fractions are taken after any seconds
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("TIMESTAMP: %q is not a time like 2023-11-16 18:15:46.6805900", text)
}

// Times returns the scheduled times of the requests of a trace, multiplied by a scale.
func Times(rows []Row, scale float64) ([]int64, error) {
	if !(scale > 0) || math.IsInf(scale, 1) {
		return nil, fmt.Errorf("the scale of times is %v: it is above 0", scale)
	}
	list := make([]int64, len(rows))
	for i, r := range rows {
		at := math.Round(float64(r.At) * scale)
		if !(at < maxTime) {
			return nil, fmt.Errorf("with times scaled by %v, request %d is due after more than 104 days", scale, i+1)
		}
		list[i] = int64(at)
	}
	return list, nil
}
