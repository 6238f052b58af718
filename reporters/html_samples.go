package reporters

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// sampleFiles reads the raw samples of launches for a page.
type sampleFiles struct {
	files fs.FS // nil: there are none
	read  int64 // bytes so far
}

const (
	mostSampleBytes = 64 << 20 // read for a page, some seconds
	mostSampleFile  = 16 << 20
	fewestBins      = 48
	mostBins        = 160
	pageBins        = 600 // of all cases of a figure
)

// of returns the contents of the samples files of a launch; nil if one is missing or they are too large.
func (s *sampleFiles) of(l *results.Launch) [][]byte {
	if s.files == nil || len(l.Samples) == 0 {
		return nil
	}
	var out [][]byte
	for _, name := range l.Samples {
		if s.read > mostSampleBytes || !fs.ValidPath(name) {
			return nil
		}
		f, err := s.files.Open(name)
		if err != nil {
			return nil
		}
		content, err := io.ReadAll(io.LimitReader(f, mostSampleFile+1))
		f.Close()
		s.read += int64(len(content))
		if err != nil || len(content) > mostSampleFile {
			return nil
		}
		out = append(out, content)
	}
	return out
}

// latencies merges those of all ranks and launches of a case; nil without histograms.
func (s *sampleFiles) latencies(c *results.Case) *results.Latencies {
	counts := map[int]int64{}
	for _, l := range c.Succeeded() {
		for _, content := range s.of(l) {
			if results.IsRecords(content) {
				return nil
			}
			one, err := results.ReadSamples(bytes.NewReader(content))
			if err != nil {
				return nil
			}
			for i, n := range one.Counts {
				counts[i] += n
			}
		}
	}
	all := results.NewLatencies(counts)
	if all.Count() == 0 {
		return nil
	}
	return all
}

// records returns those of all ranks of a launch, by rank; nil without any.
func (s *sampleFiles) records(l *results.Launch) []*results.Records {
	var out []*results.Records
	for _, content := range s.of(l) {
		if !results.IsRecords(content) {
			return nil
		}
		r, err := results.ReadRecords(bytes.NewReader(content))
		if err != nil {
			return nil
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b *results.Records) int { return a.Rank - b.Rank })
	return out
}

// distributions draws latencies of cases as cumulative distribution and as histogram, from raw samples;
// sampled reports whether there are any.
func (d *draft) distributions(cases []*results.Case) (figures []html.Figure, sampled bool) {
	measured := slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool { return len(c.Succeeded()) == 0 })
	some := evenly(measured, html.MostSeries)
	var of []binned
	for _, c := range some {
		if l := d.samples.latencies(c); l != nil {
			of = append(of, binned{name: plain(c.Key), bins: l.Bins(binsOf(len(some))), count: l.Count()})
		}
	}
	if len(of) == 0 {
		return nil, false
	}
	note := "From the raw samples of all ranks and launches, as the histograms of the files have them."
	if len(some) < len(measured) {
		note += fmt.Sprintf(" %d of %d cases are drawn, evenly spread.", len(some), len(measured))
	}
	return []html.Figure{distribution("Latencies", note, of)}, true
}

// binsOf is the number of bins per distribution.
func binsOf(cases int) int { return min(max(pageBins/max(cases, 1), fewestBins), mostBins) }

// binned are values of a case in ns, in bins.
type binned struct {
	name  string
	bins  []results.Bin
	count int64
}

// distribution draws values cumulatively and as a histogram.
func distribution(title, note string, all []binned) html.Figure {
	const ns = 1e-9
	var ends []float64
	below := html.Chart{Kind: html.Lines, Name: title + ": cumulative distribution", Title: "cumulative distribution",
		Y: html.Axis{Unit: "%", Name: "share below"}}
	per := html.Chart{Kind: html.Lines, Name: title + ": histogram", Title: "histogram",
		Y: html.Axis{Unit: "%", Name: "share in each bin"}}
	for _, b := range all {
		cumulative, histogram := html.Series{Name: b.name}, html.Series{Name: b.name, Style: html.Filled}
		upTo := int64(0)
		cumulative.Points = append(cumulative.Points, html.Point{X: b.bins[0].Low * ns})
		for i, bin := range b.bins {
			upTo += bin.Count
			share := float64(upTo) / float64(b.count)
			low, high := quantity.FormatTime(bin.Low*ns), quantity.FormatTime(bin.High*ns)
			cumulative.Points = append(cumulative.Points, html.Point{X: bin.High * ns, Y: share,
				Says: []string{fmt.Sprintf("%s: %s are below %s", b.name, shareText(share), high)}})
			says := []string{fmt.Sprintf("%s: %d, %s of all, from %s to %s", b.name, bin.Count,
				shareText(float64(bin.Count)/float64(b.count)), low, high)}
			histogram.Points = append(histogram.Points,
				html.Point{X: bin.Low * ns, Y: float64(bin.Count) / float64(b.count), Says: says})
			if i == len(b.bins)-1 {
				histogram.Points = append(histogram.Points,
					html.Point{X: bin.High * ns, Y: float64(bin.Count) / float64(b.count)})
			}
		}
		ends = append(ends, b.bins[0].Low, b.bins[len(b.bins)-1].High)
		below.Series, per.Series = append(below.Series, cumulative), append(per.Series, histogram)
	}
	x := html.Axis{Unit: "s", Log: slices.Min(ends) > 0 && slices.Max(ends) > 4*slices.Min(ends)}
	below.X, per.X = x, x
	return html.Figure{Title: title, Note: note, Charts: []html.Chart{below, per}}
}

// shareText formats a share in percent, with enough digits for p99.9.
func shareText(share float64) string { return fmt.Sprintf("%.4g%%", share*100) }
