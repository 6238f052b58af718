package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// hostsOf is a session over a number of hosts, each of which is a series over eight sizes of blocks.
func hostsOf(hosts int) *results.Document {
	doc := session(8*hosts, 3)
	for i, c := range doc.Cases {
		host, size := fmt.Sprintf("gpu-%02d.rack-7.example.com", i/8+1), quantity.Size(4096<<(i%8)).String()
		c.Key = fmt.Sprintf("bandwidth[block_size=%s,host=%s]", size, host)
		c.AxisOrder, c.Axes = []string{"host", "block_size"}, map[string]any{"host": host, "block_size": size}
	}
	return doc
}

// crowded lists what overlaps in the charts of a page, or leaves its figure or its canvas: buttons of legends
// and tools, titles, canvases, and the texts that are drawn in them.
const crowded = `(async () => {
	await ` + chartsDrawn + `;
	const out = [];
	const round = (r) => [r.left, r.top, r.right, r.bottom].map((v) => Math.round(v)).join(' ');
	const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
	const clashes = (list, what) => list.forEach((a, i) => list.slice(0, i).forEach((b) => {
		if (!apart(a.r, b.r)) out.push(what + ': ' + a.name + ' (' + round(a.r) + ') is on ' + b.name + ' (' + round(b.r) + ')');
	}));
	for (const figure of document.querySelectorAll('figure')) {
		const frame = figure.getBoundingClientRect();
		if (!frame.width) continue;
		const boxes = Array.from(figure.querySelectorAll('.legend button, .chart-tools button, .panel, .canvas, figcaption'),
			(e) => ({ name: (e.className || e.localName) + ' ' + e.textContent.slice(0, 40), r: e.getBoundingClientRect() }));
		for (const b of boxes) {
			if (b.r.left < frame.left - 1 || b.r.right > frame.right + 1 || b.r.right > innerWidth + 1) out.push('outside: ' + b.name + ' ' + round(b.r) + ' of ' + round(frame));
		}
		clashes(boxes, 'page');
		for (const s of figure.querySelectorAll('.legend span')) if (s.scrollWidth > s.clientWidth + 1) out.push('cut: ' + s.textContent);
	}
	for (const c of (document.documentElement.weirCharts || new Map()).values()) {
		if (!c.chart) continue;
		const texts = c.chart.getZr().storage.getDisplayList(true).filter((e) => e.type === 'tspan' && e.style.text).map((e) => {
			const r = e.getBoundingRect().clone();
			if (e.transform) r.applyTransform(e.transform);
			return { name: e.style.text, r: { left: r.x, top: r.y, right: r.x + r.width, bottom: r.y + r.height } };
		});
		for (const t of texts) {
			if (t.r.left < -1 || t.r.top < -1 || t.r.right > c.width + 1 || t.r.bottom > c.heightNow + 1) out.push('outside the canvas of ' + c.width + ' x ' + c.heightNow + ': ' + t.name + ' ' + round(t.r));
		}
		clashes(texts, 'canvas ' + c.data.name);
	}
	return out;
})()`

// legendsOf are the number of entries of each legend, and of series in each chart of the first figure.
const legendsOf = `(() => {
	const figure = document.querySelector('figure:has(.lines)');
	const charts = Array.from(document.documentElement.weirCharts.values()).filter((c) => figure.contains(c.box));
	return {
		Legends: Array.from(figure.querySelectorAll('.legend'), (l) => l.childElementCount),
		Series: charts.map((c) => c.data.series.length),
		Colours: new Set(charts.flatMap((c) => c.data.series.map((s) => c.style(s).colour))).size,
	};
})()`

// In a legend each entry can be read, and nothing in a figure overlaps, in windows of any width and with any number of
// series. More series than colours are small charts. WEIR_SCREENSHOTS gets pictures.
func TestLegendsFit(t *testing.T) {
	ctx := browser(t)
	for _, series := range []int{1, 5, 12, 20} {
		path := "file://" + pageFile(t, fmt.Sprintf("series-%d", series), hostsOf(series))
		for _, width := range []int64{400, 1200, 1400} {
			t.Run(fmt.Sprintf("%d/%d", series, width), func(t *testing.T) {
				do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(path))
				if found := ask[[]string](t, ctx, crowded); len(found) > 0 {
					t.Errorf("%d overlap or are cut:\n%s", len(found), strings.Join(found[:min(len(found), 12)], "\n"))
				}
				at := ask[struct {
					Legends, Series []int
					Colours         int
				}](t, ctx, legendsOf)
				charts, of := 1, series
				if series > html.MostSeries {
					charts, of = series, 1
				}
				if len(at.Series) != charts || at.Series[0] != of || len(at.Legends) != 1 || at.Colours != of {
					t.Errorf("%d charts of %d series in %d colours, with %d legends; want %d charts of %d series",
						len(at.Series), at.Series[0], at.Colours, len(at.Legends), charts, of)
				}
				screenshot(t, ctx, fmt.Sprintf("legend-%d-%d.png", series, width))
			})
		}
	}
}

// What is hidden in the legend of several charts is hidden in all, and keys reach the legend.
func TestLegendOfSeveralCharts(t *testing.T) {
	ctx := browser(t)
	do(t, ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate("file://"+pageFile(t, "several", hostsOf(12))))
	hidden := `(() => {
		const figure = document.querySelector('figure:has(.lines)');
		const b = Array.from(figure.querySelectorAll('.legend button')).find((b) => b.textContent === 'ceiling');
		const drawn = () => Array.from(document.documentElement.weirCharts.values()).filter((c) => figure.contains(c.box) &&
			c.draw() === undefined && c.chart.getOption().series.some((s) => s.name === 'ceiling')).length;
		const before = drawn();
		b.focus();
		b.click();
		return [before, drawn(), b.getAttribute('aria-pressed'), document.activeElement === b].join();
	})()`
	if got := ask[string](t, ctx, hidden); got != "12,0,false,true" {
		t.Errorf("with a ceiling, without, pressed, focused: %s", got)
	}
}

// In the figures of all sample documents nothing overlaps or is cut.
func TestFiguresOfSamplesAreNotCrowded(t *testing.T) {
	ctx := browser(t)
	for _, name := range documents {
		path := "file://" + pageFile(t, name, read(t, name))
		for _, width := range []int64{400, 1200} {
			do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(path))
			if found := ask[[]string](t, ctx, crowded); len(found) > 0 {
				t.Errorf("%s, %d wide: %d overlap or are cut:\n%s", name, width, len(found),
					strings.Join(found[:min(len(found), 6)], "\n"))
			}
		}
	}
}
