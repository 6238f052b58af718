package tooloutput

import "bytes"

// The document of iperf3 -J is made by src/iperf_api.c (JSON_write) and
// src/iperf_client_api.c; the outputs in testdata are of 3.12.
var iperf3 = Format{
	Name: "iperf3",
	Doc: "the JSON document of iperf3 -J, at the client; not its text, which is rounded. " +
		"Text under `error` is an error",
	Metrics: []Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "end.sum_received.bits_per_second: payload that the receiver got, of all streams, divided by " +
				"its time (bits; a GB is 10^9 bytes). Older versions do not have it for UDP"},
		{Name: "bandwidth.sent", Unit: "GB/s", Better: Higher,
			Doc: "end.sum_sent.bits_per_second, or of UDP that of end.sum where there is none: payload handed " +
				"to the sender's sockets, divided by its time"},
		{Name: "bandwidth.back", Unit: "GB/s", Better: Higher,
			Doc: "end.sum_received_bidir_reverse.bits_per_second: with --bidir, what the client received"},
		{Name: "retransmits", Better: Lower, MayBeZero: true,
			Doc: "end.sum_sent.retransmits: segments that TCP sent again"},
		{Name: "jitter", Unit: "s", Better: Lower, MayBeZero: true,
			Doc: "end.sum.jitter_ms: of UDP, smoothed variation of the transit time as RFC 1889 has it"},
		{Name: "loss", Better: Lower, MayBeZero: true,
			Doc: "end.sum.lost_percent: of UDP, datagrams that did not arrive, as a share of those sent (a " +
				"ratio, not percent)"},
	},
	Read: readIperf3,
}

func readIperf3(output []byte) ([]Row, error) {
	if i := bytes.Index(output, []byte("[ ID] Interval")); i >= 0 {
		return nil, at(1+bytes.Count(output[:i], []byte("\n")),
			"this is iperf3's text, whose numbers are rounded: run it with -J")
	}
	root, err := document(output)
	if err != nil {
		return nil, err
	}
	if e := root.get("error"); e != nil {
		return nil, at(e.line, "iperf3 says: %s", quote(e.text))
	}
	end := root.get("end")
	if end == nil {
		return nil, nothing("the document has no member end")
	}
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: end.line}
	members := []member{
		{metric: "bandwidth", path: "sum_received/bits_per_second", unit: bitsPerSec},
		{metric: "bandwidth.sent", path: "sum/bits_per_second", unit: bitsPerSec},
		{metric: "bandwidth.sent", path: "sum_sent/bits_per_second", unit: bitsPerSec},
		{metric: "bandwidth.back", path: "sum_received_bidir_reverse/bits_per_second", unit: bitsPerSec},
		{metric: "retransmits", path: "sum_sent/retransmits", unit: same},
		{metric: "jitter", path: "sum/jitter_ms", unit: milliseconds},
		{metric: "loss", path: "sum/lost_percent", unit: percent},
	}
	if err := row.read(end, members); err != nil {
		return nil, err
	}
	if _, ok := row.Values["bandwidth.sent"]; !ok {
		return nil, at(end.line,
			"the document has neither end.sum_sent nor end.sum: the test did not come to its end")
	}
	return []Row{row}, nil
}
