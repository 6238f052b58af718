package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// The metrics go to a collector by the OpenTelemetry protocol, with the headers of its own variable.
func TestPushToACollector(t *testing.T) {
	t.Setenv(otlpHeaders, "api-key=sesame%2Cme, x-tenant = t1")
	var answer *collector.ExportMetricsServiceResponse
	var paths, names []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+" "+r.URL.Path)
		if r.Header.Get("Api-Key") != "sesame,me" || r.Header.Get("X-Tenant") != "t1" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the headers are %v", r.Header)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var request collector.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			names = append(names, m.Name)
		}
		text, err := proto.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	to := parsed(t, "otlp+"+server.URL)
	if !isOTLP(to) {
		t.Fatalf("%s is no URL of a collector", to)
	}
	if err := pushOTLP(t.Context(), otlpURL(to), measured(12), false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(paths, " "); got != "POST /v1/metrics" {
		t.Errorf("requests: %s", got)
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "weir_bandwidth_bytes_per_second") {
		t.Errorf("metrics: %s", got)
	}
	// a collector that takes only some of the points says so under status 200
	answer = &collector.ExportMetricsServiceResponse{PartialSuccess: &collector.ExportMetricsPartialSuccess{
		RejectedDataPoints: 3, ErrorMessage: "too old\x1b[2J",
	}}
	err := pushOTLP(t.Context(), otlpURL(to), measured(12), false)
	if err == nil || err.Error() != "it rejects 3 data points: too old\uFFFD[2J" {
		t.Errorf("rejected points: %v", err)
	}
}

func TestURLsOfCollectors(t *testing.T) {
	for base, want := range map[string]string{
		"otlp+http://h:4318":                          "otlp+http://h:4318/v1/metrics",
		"otlp+https://h/otlp/":                        "otlp+https://h/otlp/v1/metrics",
		"otlp+http://h:9090/api/v1/otlp/v1/metrics":   "otlp+http://h:9090/api/v1/otlp/v1/metrics",
		"otlp+https://me:sesame@h/v1/metrics?k=3#end": "otlp+https://me:sesame@h/v1/metrics?k=3#end",
	} {
		if got := otlpURL(parsed(t, base)).String(); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// Failures have their causes, without the secrets of the URL and of the variable.
func TestPushToACollectorThatFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("\x08\x10\xff\xfe")) // a status in protobuf is not shown
	}))
	defer server.Close()
	for name, c := range map[string]struct{ url, headers, want string }{
		"refused":     {server.URL, "", "it answers 401 Unauthorized"},
		"nobody":      {"http://127.0.0.1:1", "", "connection refused"},
		"bad headers": {server.URL, "sesame", otlpHeaders + " has not the form NAME=VALUE,…"},
		"bad escape":  {server.URL, "key=sesame%zz", otlpHeaders + " has not the form NAME=VALUE,…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(otlpHeaders, c.headers)
			var stderr strings.Builder
			url := "otlp+" + strings.Replace(c.url, "http://", "http://me:sesame@", 1)
			s := session{flags: &flags{pushTo: parsed(t, url)}, stderr: &stderr}
			s.pushed(measured(12))
			got := stderr.String()
			if !strings.HasPrefix(got, "weir: warning: --push otlp+http://me:***@") ||
				!strings.Contains(got, "/v1/metrics: ") || !strings.Contains(got, c.want+"; the verdict") ||
				strings.Contains(got, "sesame") {
				t.Errorf("it says %q", got)
			}
		})
	}
}
