package results_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

func written(t interface{ Fatal(...any) }, r *results.Records) []byte {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRecordsRoundTrip(t *testing.T) {
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-9, 9),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		want := results.NewRecords("start", "took")
		want.Case, want.Launch, want.Rank = "serve[rate=4]", 3, 1
		lists := results.Column{Name: "gaps", Ends: []int{}, Values: []int64{}}
		for range rapid.IntRange(0, 20).Draw(t, "operations") {
			want.Add(number.Draw(t, "start"), number.Draw(t, "took"))
			lists.AddList(rapid.SliceOfN(number, 0, 5).Draw(t, "gaps"))
		}
		want.Columns = append(want.Columns, lists)
		got, err := results.ReadRecords(bytes.NewReader(written(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Columns {
			if want.Columns[i].Values == nil {
				want.Columns[i].Values = []int64{}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v came back as %+v", want, got)
		}
		if c := got.Column("gaps"); c.Len() != got.Column("start").Len() || c.Len() > 0 && len(c.List(0)) != c.Ends[0] {
			t.Fatalf("lists are %+v", c)
		}
		if got.Column("none") != nil {
			t.Fatal("a column that is none")
		}
	})
}

// Every piece of a file is refused, and so are lists that do not add up to the values.
func TestRecordsCutShort(t *testing.T) {
	r := results.NewRecords("start")
	r.Add(5)
	r.Add(1 << 40)
	gaps := results.Column{Name: "gaps"}
	gaps.AddList([]int64{1, 2})
	gaps.AddList(nil)
	r.Columns = append(r.Columns, gaps)
	whole := written(t, r)
	if !results.IsRecords(whole) {
		t.Error("records are not told from other samples")
	}
	for n := range whole {
		if got, err := results.ReadRecords(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d of %d bytes are read as %+v", n, len(whole), got)
		}
	}
	wrong := bytes.Replace(whole, []byte(`"values":2,"lists"`), []byte(`"values":9,"lists"`), 1)
	if _, err := results.ReadRecords(bytes.NewReader(wrong)); err == nil || bytes.Equal(wrong, whole) {
		t.Error("lists that do not add up to the values are read")
	}
}

func FuzzReadRecords(f *testing.F) {
	r := results.NewRecords("start", "took")
	r.Add(1, -1)
	f.Add(written(f, r))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := results.ReadRecords(bytes.NewReader(content))
		if err != nil {
			return
		}
		again, err := results.ReadRecords(bytes.NewReader(written(t, got)))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%+v came back as %+v, %v", got, again, err)
		}
	})
}

// A million operations of five numbers, as those of a server under load: begin, first
// token, end, and tokens in and out.
func BenchmarkRecords(b *testing.B) {
	r := results.NewRecords("begin", "first", "end", "in", "out")
	for i := range int64(1_000_000) {
		at := i * 1_000_003
		r.Add(at, at+40e6+i%977, at+900e6+i%7919, 512, i%300)
	}
	content := written(b, r)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			written(b, r)
		}
		b.ReportMetric(float64(len(content))/1e6, "B/record")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := results.ReadRecords(bytes.NewReader(content)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
