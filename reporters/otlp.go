package reporters

import (
	"strconv"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/weir-bench/weir/results"
)

// mostOTLP is the largest number of data points in a request: collectors limit the size of a request.
const mostOTLP = 5000

// OTLP makes requests of the OpenTelemetry protocol with the gauges that the OpenMetrics report has, under the same
// names; of a session that still runs (soFar) without exit code and verdicts. Their time is the end of the session, or
// now.
func OTLP(doc *results.Document, soFar bool) []*collector.ExportMetricsServiceRequest {
	ended := doc.Session.Finished
	if ended.IsZero() {
		ended = time.Now()
	}
	from := &resource.Resource{Attributes: attributes([]gaugeLabel{
		{"service.name", "weir"}, {"service.version", doc.Weir.Version},
	})}
	scope := &common.InstrumentationScope{Name: "github.com/weir-bench/weir", Version: doc.Weir.Version}
	var all []*collector.ExportMetricsServiceRequest
	room := 0
	var last *metrics.ScopeMetrics
	for _, g := range gaugesOf(doc, soFar) {
		points := g.points(uint64(ended.UnixNano()))
		for len(points) > 0 {
			if room == 0 {
				last = &metrics.ScopeMetrics{Scope: scope}
				all = append(all, &collector.ExportMetricsServiceRequest{ResourceMetrics: []*metrics.ResourceMetrics{
					{Resource: from, ScopeMetrics: []*metrics.ScopeMetrics{last}},
				}})
				room = mostOTLP
			}
			n := min(room, len(points))
			last.Metrics = append(last.Metrics, &metrics.Metric{
				Name: g.name, Description: plain(g.help), Unit: ucum(g.unit),
				Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: points[:n]}},
			})
			points, room = points[n:], room-n
		}
	}
	return all
}

func (g *gauge) points(at uint64) []*metrics.NumberDataPoint {
	var all []*metrics.NumberDataPoint
	for _, s := range g.samples {
		v, err := strconv.ParseFloat(s.value, 64)
		if err != nil {
			continue
		}
		all = append(all, &metrics.NumberDataPoint{
			TimeUnixNano: at, Attributes: attributes(s.labels), Value: &metrics.NumberDataPoint_AsDouble{AsDouble: v},
		})
	}
	return all
}

func attributes(labels []gaugeLabel) []*common.KeyValue {
	var all []*common.KeyValue
	for _, l := range labels {
		all = append(all, &common.KeyValue{Key: l.name, Value: &common.AnyValue{
			Value: &common.AnyValue_StringValue{StringValue: l.value},
		}})
	}
	return all
}

// ucum is the symbol that the Unified Code for Units of Measure has for a base unit. Rates and numbers have none:
// Prometheus and the collector's exporter would add "_per_second" or "_ratio" to a name that says it already.
func ucum(unit string) string {
	switch unit {
	case "bytes":
		return "By"
	case "seconds":
		return "s"
	}
	return ""
}
