package client

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/serving/load"
)

// serverVariable makes this program a server, of the kind of its value.
const serverVariable = "WEIR_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverVariable); kind != "" {
		serve(kind)
	}
	if text := os.Getenv(attackedVariable); text != "" {
		runHostile(text)
	}
	os.Exit(m.Run())
}

// serve answers with plain sockets until its input ends: "tokens" with benchTokens tokens at once, "open N" when N
// streams are open, each with its first token.
func serve(kind string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	number, isOpen := strings.CutPrefix(kind, "open ")
	streams, _ := strconv.Atoi(number)
	var open sync.WaitGroup
	open.Add(streams)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				panic(err)
			}
			go func() {
				in := bufio.NewReaderSize(conn, 1<<10)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if _, err := in.Discard(int(r.ContentLength)); err != nil {
						return
					}
					write(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
					if isOpen {
						write(conn, chunk(token))
						open.Done()
						open.Wait()
					} else {
						for range benchTokens {
							write(conn, chunk(token))
						}
					}
					write(conn, chunk("data: [DONE]\n\n")+"0\r\n\r\n")
				}
			}()
		}
	}()
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

// token is an event as vLLM sends them.
const token = `data: {"id":"chatcmpl-0123456789","object":"text_completion","created":1700000000,"model":"m",` +
	`"choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null,"stop_reason":null}]}` + "\n\n"

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

func write(conn net.Conn, text string) {
	if _, err := conn.Write([]byte(text)); err != nil {
		conn.Close()
	}
}

// serverProcess starts a server in a process of its own, and returns its address.
func serverProcess(t testing.TB, kind string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// Ten thousand open streams take less than 1 GB of their process.
func TestTenThousandOpenStreams(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	const streams = 10_000
	c := newClient(t, Config{URL: serverProcess(t, fmt.Sprintf("open %d", streams)), Stream: true})
	before := peak(t)
	for _, r := range gather(t.Context(), c, Load{Next: Each(conversations(streams, nil)), Slots: streams}) {
		if r.Outcome != load.OK {
			t.Fatalf("%+v", r)
		}
	}
	most := peak(t)
	t.Logf("%.0f kB for each stream, %.0f MB in all", (most-before)/streams/1e3, most/1e6)
	if most > 1e9 {
		t.Errorf("%d streams take %.0f MB", streams, most/1e6)
	}
}

// peak returns the peak memory of this process in bytes.
func peak(t *testing.T) float64 {
	t.Helper()
	most, err := peakMemory()
	if err != nil {
		t.Fatal(err)
	}
	return most
}

func peakMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	return kib * 1024, err
}
