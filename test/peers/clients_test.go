package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	pairs   = flag.Int("pairs", 1, "how often each client of TestClientsOfDynamo loads it")
	bars    = flag.Bool("bars", false, "hold the medians of TestClientsOfDynamo to what weir is to reach")
	clients = flag.String("clients", "weir,aiperf,sockets", "those that load it; aiperf takes a minute each time")
)

// The load of each client: 64 streams of 32 tokens.
const (
	clientStreams  = 64
	clientTokens   = 32
	clientRequests = 20 * clientStreams
	clientPrompt   = 100 // tokens
	templateTokens = 19  // of them are those of a chat without its content
)

// One Dynamo that answers at once is loaded by weir, by aiperf and by nothing but sockets, in turns:
// what each gets out of it, in tokens per second, and how much of the others weir has. All of
// them measure all tokens. A ratio of one pair on a busy machine says little: make pairs has many, and bars.
func TestClientsOfDynamo(t *testing.T) {
	model, err := filepath.Abs("testdata/tinymodel")
	if err != nil {
		t.Fatal(err)
	}
	loads := map[string]func(*testing.T, string) float64{"weir": loadWithWeir, "sockets": loadWithSockets}
	names := strings.Split(*clients, ",")
	if slices.Contains(names, "aiperf") {
		loads["aiperf"] = loadWithAiperf(peer(t, "aiperf/bin/aiperf"), model)
	}
	at := startDynamo(t, python(t, "dynamo"), model, "--speedup-ratio", "0")
	loadWithSockets(t, at) // Dynamo's first requests are slow
	rates := map[string][]float64{}
	for round := range *pairs {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			rate := loads[name](t, at)
			rates[name] = append(rates[name], rate)
			t.Logf("round %d: %-7s %6.0f tokens/s", round+1, name, rate)
		}
	}
	for _, c := range []struct {
		of    string
		least float64
	}{{"aiperf", 3}, {"sockets", 0.95}} {
		if len(rates[c.of]) == 0 || len(rates["weir"]) == 0 {
			continue
		}
		ratios := make([]float64, *pairs)
		for i := range ratios {
			ratios[i] = rates["weir"][i] / rates[c.of][i]
		}
		slices.Sort(ratios)
		median := (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
		t.Logf("weir / %s: median %.3f of %d pairs, %.3f to %.3f", c.of, median, len(ratios), ratios[0],
			ratios[len(ratios)-1])
		if *bars && median < c.least {
			t.Errorf("weir has %.3f of the tokens per second that %s has, and should have %v", median, c.of, c.least)
		}
	}
}

// startDynamo starts a frontend and a mocker until the test ends, and gives the frontend's address.
func startDynamo(t *testing.T, python, model string, more ...string) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(at)
	dir := t.TempDir()
	common := []string{"--discovery-backend", "file", "--request-plane", "tcp"}
	start := func(module string, arguments ...string) {
		cmd := exec.Command(python, slices.Concat([]string{"-m", module}, arguments, common)...)
		cmd.Env = append(os.Environ(), "DYN_FILE_KV="+dir+"/kv", "DYN_LOG=warn", "HF_HUB_OFFLINE=1")
		log, err := os.Create(filepath.Join(dir, module+".log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	start("dynamo.mocker", append([]string{"--model-path", model, "--model-name", "mock"}, more...)...)
	start("dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", port)
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get("http://" + at + "/v1/models")
		if err != nil {
			continue
		}
		var list struct{ Data []struct{ ID string } }
		err = json.NewDecoder(answer.Body).Decode(&list)
		answer.Body.Close()
		if err == nil && len(list.Data) > 0 {
			return at
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "dynamo.frontend.log"))
	t.Fatalf("Dynamo was not ready within 3 minutes:\n%s", log)
	return ""
}

func loadWithWeir(t *testing.T, at string) float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `scenario: load
runs:
  load:
    workload: serving
    launches: 1
    options:
      url: "http://%s"
      model: mock
      concurrency: %d
      requests: %d
      input: {tokens: %d}
      output: {tokens: %d, exact: true}
      window: whole
`, at, clientStreams, clientRequests, clientPrompt, clientTokens), 0o600); err != nil {
		t.Fatal(err)
	}
	s := runNamed(t, file) // a busy machine may make the verdict an error: what was measured is there all the same
	get := func(metric string) float64 {
		v, ok := s.doc.Cases[0].Launches[0].Metrics.Get(metric)
		if !ok {
			t.Fatalf("no %s:\n%s", metric, s.said)
		}
		return v
	}
	if failed, tokens := get("error_rate"), get("output.tokens"); failed > 0 || tokens != clientTokens {
		t.Fatalf("%v %% failed, with %v tokens in an answer:\n%s", failed, tokens, s.said)
	}
	likePrompts(t, get("input.tokens"))
	return get("output_throughput")
}

// likePrompts holds a client to prompts as long as those of the others.
func likePrompts(t *testing.T, tokens float64) {
	t.Helper()
	if tokens < 0.8*clientPrompt || tokens > 1.25*clientPrompt {
		t.Fatalf("prompts have %v tokens, not %d", tokens, clientPrompt)
	}
}

func loadWithAiperf(aiperf, model string) func(*testing.T, string) float64 {
	return func(t *testing.T, at string) float64 {
		t.Helper()
		dir := t.TempDir()
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		text, err := exec.CommandContext(ctx, aiperf, "profile", "--model", "mock", "--url", "http://"+at,
			"--endpoint-type", "chat", "--streaming", "--concurrency", strconv.Itoa(clientStreams),
			"--request-count", strconv.Itoa(clientRequests),
			"--synthetic-input-tokens-mean", strconv.Itoa(clientPrompt), "--synthetic-input-tokens-stddev", "0",
			"--output-tokens-mean", strconv.Itoa(clientTokens),
			"--extra-inputs", "ignore_eos:true", "--extra-inputs", fmt.Sprintf("min_tokens:%d", clientTokens),
			"--tokenizer", model, "--use-server-token-count", "--ui", "simple", "--artifact-dir", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("aiperf: %v\n%s", err, text)
		}
		content, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			Throughput struct{ Avg float64 } `json:"output_token_throughput"`
			Requests   struct{ Avg float64 } `json:"request_count"`
			Prompt     struct{ Avg float64 } `json:"input_sequence_length"`
		}
		if err := json.Unmarshal(content, &said); err != nil || !(said.Throughput.Avg > 0) ||
			said.Requests.Avg != clientRequests {
			t.Fatalf("aiperf: %+v, %v\n%s", said, err, text)
		}
		likePrompts(t, said.Prompt.Avg)
		return said.Throughput.Avg
	}
}

// loadWithSockets writes requests and reads to the end of each answer, and does nothing else.
func loadWithSockets(t *testing.T, at string) float64 {
	t.Helper()
	var left, tokens, asked atomic.Int64
	left.Store(clientRequests)
	var all sync.WaitGroup
	begin := time.Now()
	for range clientStreams {
		all.Go(func() {
			letters := make([]byte, clientPrompt-templateTokens)
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 64<<10)
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				for i := range letters {
					letters[i] = 'a' + byte(rand.IntN(26)) // each is a token of this model
				}
				body := fmt.Sprintf(`{"model":"mock","messages":[{"role":"user","content":%q}],"stream":true,`+
					`"stream_options":{"include_usage":true},"max_tokens":%d,"min_tokens":%[2]d,"ignore_eos":true}`,
					letters, clientTokens)
				fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
					"Content-Length: %d\r\n\r\n%s", at, len(body), body)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						t.Error(err)
						return
					}
					if line == "0\r\n" { // the last chunk of an answer is empty
						_, _ = in.ReadString('\n')
						break
					}
					if strings.Contains(line, `"content":"`) {
						tokens.Add(1)
					}
					if _, n, is := strings.Cut(line, `"prompt_tokens":`); is {
						n, _, _ = strings.Cut(n, ",")
						is, _ := strconv.Atoi(n)
						asked.Add(int64(is))
					}
				}
			}
		})
	}
	all.Wait()
	if n := tokens.Load(); n != clientRequests*clientTokens {
		t.Fatalf("%d tokens came, not %d", n, clientRequests*clientTokens)
	}
	likePrompts(t, float64(asked.Load())/clientRequests)
	return float64(tokens.Load()) / time.Since(begin).Seconds()
}
