package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// otlpScheme begins the scheme of a URL of --push to which metrics go by the OpenTelemetry protocol over HTTP. See
// https://opentelemetry.io/docs/specs/otlp/#otlphttp.
const otlpScheme = "otlp+"

// otlpPath ends the URL of a collector's metrics.
const otlpPath = "/v1/metrics"

// otlpHeaders is OpenTelemetry's own variable for the headers of requests, such as keys of a service: NAME=VALUE,….
const otlpHeaders = "OTEL_EXPORTER_OTLP_HEADERS"

func isOTLP(u *url.URL) bool { return strings.HasPrefix(u.Scheme, otlpScheme) }

func otlpURL(u *url.URL) *url.URL {
	if strings.HasSuffix(u.Path, otlpPath) {
		return u
	}
	return u.JoinPath(otlpPath)
}

// pushOTLP sends the metrics of a document to a collector. It may take some of them only, which is an error, too.
func pushOTLP(ctx context.Context, to *url.URL, doc *results.Document, soFar bool) error {
	header, err := headersOf(os.Getenv(otlpHeaders))
	if err != nil {
		return err
	}
	plain := *to
	plain.Scheme = strings.TrimPrefix(to.Scheme, otlpScheme)
	var requests []*collector.ExportMetricsServiceRequest
	made := func(io.Writer) error { requests = reporters.OTLP(doc, soFar); return nil }
	if err := reporters.Guarded(io.Discard, made); err != nil {
		return err
	}
	for _, request := range requests {
		body, err := proto.Marshal(request)
		if err != nil {
			return err
		}
		says, err := send(ctx, &plain, http.MethodPost, header, body)
		if err != nil {
			return err
		}
		var answer collector.ExportMetricsServiceResponse
		if proto.Unmarshal(says, &answer) != nil {
			continue // the status is a success
		}
		if p := answer.GetPartialSuccess(); p.GetRejectedDataPoints() > 0 {
			return fmt.Errorf("it rejects %d data points: %s", p.GetRejectedDataPoints(),
				printable.Line(p.GetErrorMessage()))
		}
	}
	return nil
}

// headersOf reads the variable of headers. Errors do not repeat it, as it has secrets.
func headersOf(text string) (http.Header, error) {
	header := http.Header{"Content-Type": {"application/x-protobuf"}}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !found || err != nil || name == "" {
			return nil, errors.New(otlpHeaders + " has not the form NAME=VALUE,…")
		}
		header.Add(name, value)
	}
	return header, nil
}
