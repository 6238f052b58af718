package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

// endpoint is a server that logs the client of each request.
const endpoint = `
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.answer("application/json", b'{"data":[{"id":"toy"}]}')
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["max_tokens"] == 3:
            print("asked by", self.client_address[0], flush=True)
        event = {"choices": [{"text": "word", "finish_reason": "length"}],
                 "usage": {"prompt_tokens": len(asked["prompt"].split()), "completion_tokens": asked["max_tokens"]}}
        self.answer("text/event-stream", b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n")
    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 256
http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
`

// Clients on three hosts load one endpoint with one schedule: each request is sent once, in turn, at
// its time in the schedule, and all clients send from the beginning to the end.
func TestClientsOnThreeHosts(t *testing.T) {
	t.Parallel()
	const clients, requests, rate = 3, 150, 50
	program, err := json.Marshal(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	l := lab.New(t, "h1", "h2", "h3")
	p, out := overSSH(t, l.SSH(), fmt.Sprintf(`scenario: clients
cluster: {nodes: %[1]d, distinct_hosts: true}
services:
  server:
    command: [python3, -c, %[2]s, "${port.http}"]
    ready: {listens: "${port.http}"}
    url: "http://${service.server.address}:${port.http}"
runs:
  load:
    workload: serving
    launches: 1
    options: {service: server, model: toy, api: completions, ranks: %[1]d, rate: %[3]d/s, requests: %[4]d, output: {tokens: 3},
              warmup: {waves: 0}}
    place: {ranks_per_node: 1}
`, clients, program, rate, requests), "h1,h2,h3")
	<-p.done
	// whether a busy machine lets clients keep time is not asked here
	if code := p.cmd.ProcessState.ExitCode(); code != 0 && code != 6 {
		t.Fatalf("exit code %d:\n%s", code, p.said())
	}
	doc := document(t, out)
	launch := doc.Cases[0].Launches[0]
	nodes := slices.Sorted(slices.Values(launch.Nodes))
	if launch.Status != results.OK || strings.Join(nodes, " ") != "h1 h2 h3" {
		t.Fatalf("%+v on %v:\n%s", launch, nodes, p.said())
	}
	sent := map[int]bool{}
	for rank, records := range recordsOf(t, out, launch) {
		for _, r := range records {
			if r.Phase != load.Measured {
				continue
			}
			if want := int64(r.Index) * 1e9 / rate; r.Due != want || r.Outcome != load.OK || r.Index%clients != rank ||
				r.Start < r.Due || sent[r.Index] {
				t.Errorf("client %d, due at %d: %+v", rank, want, r)
			}
			sent[r.Index] = true
		}
	}
	if len(sent) != requests {
		t.Errorf("%d requests were sent, not %d", len(sent), requests)
	}
	log, err := os.ReadFile(filepath.Join(out, doc.Services[0].Log))
	if err != nil {
		t.Fatal(err)
	}
	var askers []string
	for line := range strings.Lines(string(log)) {
		if _, client, is := strings.Cut(line, "asked by "); is {
			askers = append(askers, strings.TrimSpace(client))
		}
	}
	if len(askers) != requests {
		t.Fatalf("the server was asked %d times:\n%s", len(askers), log)
	}
	for _, part := range [][]string{askers[:requests/2], askers[requests/2:]} {
		count := map[string]int{}
		for _, client := range part {
			count[client]++
		}
		if len(count) != clients {
			t.Errorf("half of the requests are of %v", count)
		}
		for client, n := range count {
			if n < requests/2/clients/2 {
				t.Errorf("%s sent %d of %d requests: %v", client, n, len(part), count)
			}
		}
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}

// recordsOf are the records of each client of a launch.
func recordsOf(t *testing.T, out string, l *results.Launch) map[int][]load.Record {
	t.Helper()
	all := map[int][]load.Record{}
	for _, name := range l.Samples {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		header, err := results.ReadRecords(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if all[header.Rank], err = serving.Records([][]byte{content}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
