package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ReadTrace reads requests with their times, at most most of them (0: all). Two forms are known, distinguished by the
// first line:
//
//   - JSON lines as Mooncake publishes them: timestamp in milliseconds,
//     input_length, output_length; other keys are skipped
//   - CSV as Azure publishes it: TIMESTAMP,ContextTokens,GeneratedTokens with
//     times as 2023-11-16 18:15:46.6805900
//
// Times count from the first request and do not go back. Errors name file and line.
func ReadTrace(r io.Reader, file string, most int) ([]Request, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), 1<<24)
	var out []Request
	var parse func(line []byte) (Request, error)
	first := 0.0
	for number := 1; in.Scan(); number++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(in.Bytes(), []byte("\uFEFF")))
		if len(line) == 0 {
			continue
		}
		if parse == nil {
			if line[0] == '{' {
				parse = mooncake
			} else {
				columns, err := azureHeader(string(line))
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %w", file, number, err)
				}
				parse = columns.parse
				continue
			}
		}
		q, err := parse(line)
		if err == nil {
			err = q.check()
		}
		if err == nil && len(out) == 0 {
			first = q.Arrival
		}
		q.Arrival, q.Timed = q.Arrival-first, true
		if err == nil && len(out) > 0 && q.Arrival < out[len(out)-1].Arrival {
			err = fmt.Errorf("the request comes before the one above it: sort the lines by time")
		}
		if err == nil && len(out) == MaxRequests {
			err = fmt.Errorf("more than %d requests", MaxRequests)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		if out = append(out, q); len(out) == most {
			break
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: there are no requests in it", file)
	}
	return out, nil
}

// mooncake reads a line of kvcache-ai/Mooncake's traces.
func mooncake(line []byte) (Request, error) {
	var row struct {
		Timestamp *float64 `json:"timestamp"` // ms
		Input     *int     `json:"input_length"`
		Output    int      `json:"output_length"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return Request{}, err
	}
	if row.Timestamp == nil || row.Input == nil {
		return Request{}, fmt.Errorf("a request has a timestamp in milliseconds and an input_length")
	}
	return Request{ISL: *row.Input, OSL: row.Output, Arrival: *row.Timestamp / 1e3}, nil
}

// azure has the indices of the columns of a CSV trace.
type azure struct {
	time, input, output int
	count               int
	// of the first request: as seconds since the epoch a float has no digits left for microseconds
	start *time.Time
}

func azureHeader(line string) (*azure, error) {
	a := &azure{time: -1, input: -1, output: -1}
	names := strings.Split(line, ",")
	for i, name := range names {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "timestamp":
			a.time = i
		case "contexttokens":
			a.input = i
		case "generatedtokens":
			a.output = i
		}
	}
	if a.time < 0 || a.input < 0 {
		return nil, fmt.Errorf("the trace is neither JSON lines with timestamp and input_length nor CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens")
	}
	a.count = len(names)
	return a, nil
}

func (a *azure) parse(line []byte) (Request, error) {
	cells := strings.Split(string(line), ",")
	if len(cells) != a.count {
		return Request{}, fmt.Errorf("%d columns, and the header has %d", len(cells), a.count)
	}
	at, err := azureTime(strings.TrimSpace(cells[a.time]))
	if err != nil {
		return Request{}, err
	}
	if a.start == nil {
		a.start = &at
	}
	q := Request{Arrival: at.Sub(*a.start).Seconds()}
	if q.ISL, err = strconv.Atoi(strings.TrimSpace(cells[a.input])); err != nil {
		return Request{}, fmt.Errorf("ContextTokens: %q is not a whole number", cells[a.input])
	}
	if a.output < 0 {
		return q, nil
	}
	if q.OSL, err = strconv.Atoi(strings.TrimSpace(cells[a.output])); err != nil {
		return Request{}, fmt.Errorf("GeneratedTokens: %q is not a whole number", cells[a.output])
	}
	return q, nil
}

func azureTime(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil { // fractions are taken after any seconds
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("TIMESTAMP: %q is not a time like 2023-11-16 18:15:46.6805900", text)
}
