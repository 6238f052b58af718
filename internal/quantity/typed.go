package quantity

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Time is a time to the nanosecond as a person wrote it: unlike a time.Duration, it is formatted
// with the unit in which it is a whole number.
type Time time.Duration

// Rate is a number of bytes per second, with 12 significant digits.
type Rate float64

// PerSecond is a frequency with 12 significant digits.
type PerSecond float64

// Percent is a share with 12 significant digits: 5 % is 0.05.
type Percent float64

// ReadTime reads a Time: "2us", "1.5 ms". The only plain number is 0.
func ReadTime(text string) (Time, error) {
	if zero(text) {
		return 0, nil
	}
	d, err := ParseTime(text)
	return Time(d), err
}

// ReadRate reads a Rate: "10 GB/s", "400 Gbps". The only plain number is 0.
func ReadRate(text string) (Rate, error) {
	v, err := typed(text, RateDim, "B/s", "GB/s")
	return Rate(v), err
}

// ReadPerSecond reads a PerSecond: "2/s", "0.5 1/s". The only plain number is 0.
func ReadPerSecond(text string) (PerSecond, error) {
	v, err := typed(text, Frequency, "1/s", "/s")
	return PerSecond(v), err
}

// ReadPercent reads a Percent: "3%". The only plain number is 0, since 0.03 and 3 are equally
// plausible.
func ReadPercent(text string) (Percent, error) {
	v, err := typed(text, Number, "", "%")
	return Percent(v), err
}

// typed reads a value of a dimension in base units. It must have a unit, or be 0.
func typed(text string, dim Dimension, base, example string) (float64, error) {
	q, err := Parse(text)
	switch {
	case err != nil:
		return 0, err
	case q.Value == 0 && q.Unit == "":
		return 0, nil
	case q.Unit == "":
		return 0, fmt.Errorf("%q has no unit: write %s%s", text, text, example)
	case q.Dim != dim:
		return 0, fmt.Errorf("%q is a %s, not in a unit like %s", text, q.Dim, example)
	}
	return q.In(base)
}

func zero(text string) bool {
	q, err := Parse(text)
	return err == nil && q.Value == 0 && q.Unit == ""
}

// Seconds returns the time in seconds.
func (t Time) Seconds() float64 { return Round(float64(t) / 1e9) }

// String returns the canonical spelling: the largest unit in which the time is a whole number.
// Equal times have equal spellings.
func (t Time) String() string {
	for _, u := range []struct {
		symbol string
		f      Time
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if t%u.f == 0 {
			return strconv.FormatInt(int64(t/u.f), 10) + u.symbol
		}
	}
	return strconv.FormatInt(int64(t), 10) + "ns"
}

// String returns the canonical spelling: in the largest decimal unit with a value of at least 1.
func (r Rate) String() string {
	for _, u := range []struct {
		symbol string
		f      Rate
	}{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}} {
		if r >= u.f {
			return decimal(float64(r/u.f)) + u.symbol
		}
	}
	return decimal(float64(r)) + "B/s"
}

// String returns the canonical spelling, as "2/s".
func (p PerSecond) String() string { return decimal(float64(p)) + "/s" }

// String returns the canonical spelling, as "3%".
func (p Percent) String() string { return decimal(float64(p)*100) + "%" }

func decimal(v float64) string { return strconv.FormatFloat(Round(v), 'f', -1, 64) }

// MarshalJSON writes the canonical spelling.
func (t Time) MarshalJSON() ([]byte, error) { return quoted(t.String()), nil }

// MarshalJSON writes the canonical spelling.
func (r Rate) MarshalJSON() ([]byte, error) { return quoted(r.String()), nil }

// MarshalJSON writes the canonical spelling.
func (p PerSecond) MarshalJSON() ([]byte, error) { return quoted(p.String()), nil }

// MarshalJSON writes the canonical spelling.
func (p Percent) MarshalJSON() ([]byte, error) { return quoted(p.String()), nil }

// UnmarshalJSON reads a spelling.
func (t *Time) UnmarshalJSON(b []byte) (err error) { *t, err = fromJSON(b, ReadTime); return err }

// UnmarshalJSON reads a spelling.
func (r *Rate) UnmarshalJSON(b []byte) (err error) { *r, err = fromJSON(b, ReadRate); return err }

// UnmarshalJSON reads a spelling.
func (p *PerSecond) UnmarshalJSON(b []byte) (err error) {
	*p, err = fromJSON(b, ReadPerSecond)
	return err
}

// UnmarshalJSON reads a spelling.
func (p *Percent) UnmarshalJSON(b []byte) (err error) { *p, err = fromJSON(b, ReadPercent); return err }

func fromJSON[T any](b []byte, read func(string) (T, error)) (T, error) {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		var none T
		return none, fmt.Errorf("%s is not a text with a unit", b)
	}
	return read(text)
}

// Written is a quantity of any dimension that keeps its spelling for programs: 1024KiB is not 1MiB.
type Written struct {
	Quantity
	text string
}

// ReadWritten reads a quantity that has a unit, or is 0.
func ReadWritten(text string) (Written, error) {
	q, err := Parse(text)
	if err == nil && q.Unit == "" && q.Value != 0 {
		err = fmt.Errorf("%q has no unit", text)
	}
	q.Value = Round(q.Value)
	return Written{q, text}, err
}

func (w Written) String() string { return w.text }

// MarshalJSON writes the text.
func (w Written) MarshalJSON() ([]byte, error) { return json.Marshal(w.text) }
