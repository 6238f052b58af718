package results

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Records are the raw samples of one rank, case and launch, if the workload stores some numbers per
// operation instead of a histogram. They are stored by column as differences, in as many bytes as these
// need.
type Records struct {
	Case    string
	Launch  int
	Rank    int
	Columns []Column
}

// Column has one number, or one list of numbers, for each operation.
type Column struct {
	Name   string
	Values []int64
	// Ends are, for lists, the end index of each operation's values; nil: one value each.
	Ends []int
}

// NewRecords returns records with columns of one value per operation.
func NewRecords(columns ...string) *Records {
	r := &Records{}
	for _, name := range columns {
		r.Columns = append(r.Columns, Column{Name: name})
	}
	return r
}

// Add appends an operation with a value for each column that is not a list.
func (r *Records) Add(values ...int64) {
	for i, v := range values {
		r.Columns[i].Values = append(r.Columns[i].Values, v)
	}
}

// Column returns a column by name, or nil.
func (r *Records) Column(name string) *Column {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return &r.Columns[i]
		}
	}
	return nil
}

// Len is the number of operations of a column.
func (c *Column) Len() int {
	if c.Ends != nil {
		return len(c.Ends)
	}
	return len(c.Values)
}

// List returns the list of one operation.
func (c *Column) List(i int) []int64 {
	from := 0
	if i > 0 {
		from = c.Ends[i-1]
	}
	return c.Values[from:c.Ends[i]]
}

// AddList appends an operation's list.
func (c *Column) AddList(values []int64) {
	c.Values = append(c.Values, values...)
	c.Ends = append(c.Ends, len(c.Values))
}

var recordsMagic = []byte("WEIRREC1")

// mostRecords limits the number of values of a column.
const mostRecords = 1 << 28

// recordsHead is the JSON header of a records file.
type recordsHead struct {
	Case    string       `json:"case"`
	Launch  int          `json:"launch"`
	Rank    int          `json:"rank"`
	Columns []columnHead `json:"columns"`
}

type columnHead struct {
	Name   string `json:"name"`
	Values int    `json:"values"`
	Lists  *int   `json:"lists,omitzero"` // operations of a column of lists
}

// Write writes the records: the magic, a JSON header with its length, then the columns as varints: list
// lengths first, then differences of values.
func (r *Records) Write(w io.Writer) error {
	head := recordsHead{Case: r.Case, Launch: r.Launch, Rank: r.Rank}
	size := 0
	for _, c := range r.Columns {
		h := columnHead{Name: c.Name, Values: len(c.Values)}
		if c.Ends != nil {
			n := len(c.Ends)
			h.Lists = &n
		}
		head.Columns = append(head.Columns, h)
		size += 3*len(c.Values) + len(c.Ends)
	}
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encoding records: %w", err)
	}
	b := make([]byte, 0, len(recordsMagic)+len(text)+size)
	b = appendHead(b, recordsMagic, text)
	for _, c := range r.Columns {
		b = c.append(b)
	}
	_, err = w.Write(b)
	return err
}

func (c *Column) append(b []byte) []byte {
	from := 0
	for _, end := range c.Ends {
		b = binary.AppendUvarint(b, uint64(end-from))
		from = end
	}
	last := int64(0)
	for _, v := range c.Values {
		b = binary.AppendVarint(b, v-last) // wraps, and so does its sum
		last = v
	}
	return b
}

var errRecords = errors.New("not a records file, or cut short")

// IsRecords reports whether the content of a samples file is records.
func IsRecords(content []byte) bool { return bytes.HasPrefix(content, recordsMagic) }

// appendHead appends the start of a samples file: its magic, and its header with the length.
func appendHead(b, magic, head []byte) []byte {
	b = binary.AppendUvarint(append(b, magic...), uint64(len(head)))
	return append(b, head...)
}

// readHead reads what appendHead appended, and returns the rest of the file.
func readHead(from io.Reader, magic []byte) (rest source, head []byte, ok bool) {
	rest, ok = from.(source)
	if !ok {
		rest = bufio.NewReader(from)
	}
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(rest, start); err != nil || !bytes.Equal(start, magic) {
		return nil, nil, false
	}
	n, err := binary.ReadUvarint(rest)
	if err != nil || n > 1<<20 {
		return nil, nil, false
	}
	head = make([]byte, n)
	_, err = io.ReadFull(rest, head)
	return rest, head, err == nil
}

// ReadRecords reads what Write wrote.
func ReadRecords(from io.Reader) (*Records, error) {
	in, text, ok := readHead(from, recordsMagic)
	if !ok {
		return nil, errRecords
	}
	var head recordsHead
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("header of records: %w", err)
	}
	r := &Records{Case: head.Case, Launch: head.Launch, Rank: head.Rank}
	for _, h := range head.Columns {
		c, err := readColumn(in, h)
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, c)
	}
	return r, nil
}

func readColumn(in source, h columnHead) (Column, error) {
	c := Column{Name: h.Name}
	if h.Values < 0 || h.Values > mostRecords || h.Lists != nil && (*h.Lists < 0 || *h.Lists > mostRecords) {
		return c, errRecords
	}
	if h.Lists != nil {
		c.Ends = []int{}
		end := 0
		for range *h.Lists {
			n, err := binary.ReadUvarint(in)
			if err != nil || n > uint64(h.Values-end) {
				return c, errRecords
			}
			end += int(n)
			c.Ends = append(c.Ends, end)
		}
		if end != h.Values {
			return c, errRecords
		}
	}
	last := int64(0)
	c.Values = make([]int64, 0, min(h.Values, 1<<16)) // the header may promise more than the file has
	for range h.Values {
		d, err := binary.ReadVarint(in)
		if err != nil {
			return c, errRecords
		}
		last += d
		c.Values = append(c.Values, last)
	}
	return c, nil
}
