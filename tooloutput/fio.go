package tooloutput

import (
	"bytes"
	"slices"
)

// The document of fio --output-format=json is made by stat.c (show_thread_status_json);
// the outputs in testdata are of 3.33.
var fio = Format{
	Name: "fio",
	Doc: "the JSON document of fio --output-format=json; lines before it, as notes, are passed over. A row is " +
		"a job, or with --group_reporting a group. " +
		"A job with an error, or of which nothing was read, written or trimmed, is an error",
	Keys:    []string{"job"},
	Metrics: slices.Concat(fioMetrics("read"), fioMetrics("write"), fioMetrics("trim")),
	Read:    readFio,
}

var fioParts = []string{"avg", "min", "p50", "p90", "p95", "p99", "p999", "max"}

func fioMetrics(way string) []Metric {
	return slices.Concat([]Metric{
		{Name: way + ".bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "bw_bytes: bytes divided by the time of the job (10^9 bytes; whole bytes/s)"},
		{Name: way + ".rate", Unit: "1/s", Better: Higher, Doc: "iops: operations divided by the time of the job"},
		{Name: way + ".requests", Better: Neither, Doc: "total_ios"},
	}, spreadMetrics(way+".latency",
		"lat_ns: from before the submission of an operation to its completion; its percentiles only with "+
			"--lat_percentiles=1", true, fioParts...),
		spreadMetrics(way+".completion", "clat_ns: from the submission of an operation to its completion", true,
			fioParts...))
}

func fioMembers(way string) []member {
	parts := map[string]string{
		"avg": "mean", "min": "min", "max": "max", "p50": "percentile/50.000000", "p90": "percentile/90.000000",
		"p95": "percentile/95.000000", "p99": "percentile/99.000000", "p999": "percentile/99.900000",
	}
	return slices.Concat([]member{
		{metric: way + ".bandwidth", path: way + "/bw_bytes", unit: bytesPerSec},
		{metric: way + ".rate", path: way + "/iops", unit: same},
		{metric: way + ".requests", path: way + "/total_ios", unit: same},
	},
		spread(way+".latency", way+"/lat_ns", nanoseconds, parts),
		spread(way+".completion", way+"/clat_ns", nanoseconds, parts))
}

func readFio(output []byte) ([]Row, error) {
	root, err := document(withoutNotes(output))
	if err != nil {
		return nil, err
	}
	jobs := root.get("jobs")
	if jobs == nil {
		return nil, nothing("the document has no member jobs (what fio --client prints cannot be read)")
	}
	items, err := jobs.list()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, at(jobs.line, "fio ran no job")
	}
	var found rows
	for _, job := range items {
		row, err := fioJob(job)
		if err == nil {
			err = found.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

func fioJob(job *node) (Row, error) {
	name := job.get("jobname")
	if name == nil || name.kind != text {
		return Row{}, at(job.line, "a job has no jobname")
	}
	failure := job.get("error")
	if failure == nil || failure.kind != number {
		return Row{}, at(job.line, "job %s does not say whether it had an error", quote(name.text))
	}
	if failure.text != "0" {
		return Row{}, at(failure.line, "job %s failed with error %s", quote(name.text), failure.text)
	}
	row := Row{At: map[string]string{"job": name.text}, Values: map[string]float64{}, Line: job.line}
	for _, way := range []string{"read", "write", "trim"} {
		if count := job.get(way, "total_ios"); count == nil || count.text == "0" {
			continue
		}
		if err := row.read(job, fioMembers(way)); err != nil {
			return Row{}, err
		}
	}
	if len(row.Values) == 0 {
		return Row{}, at(job.line, "job %s read, wrote and trimmed nothing", quote(name.text))
	}
	return row, nil
}

// withoutNotes blanks what fio writes to the same place before the document, so that
// lines keep their numbers.
func withoutNotes(output []byte) []byte {
	begin := bytes.Index(output, []byte("\n{")) + 1
	if begin == 0 || bytes.HasPrefix(output, []byte("{")) {
		return output
	}
	output = bytes.Clone(output)
	for i := range output[:begin] {
		if output[i] != '\n' {
			output[i] = ' '
		}
	}
	return output
}
