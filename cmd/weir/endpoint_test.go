package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weir-bench/weir/test/testserver"
)

// openAIEndpoint is a program for scripts: a server with answers of the requested
// number of tokens, the first after -first and the others -gap apart. It counts the words of prompts.
func openAIEndpoint() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	address := flag.String("address", "", "file that gets the address")
	first := flag.Duration("first", 0, "until the first token")
	gap := flag.Duration("gap", 0, "between two tokens")
	fails := flag.Int64("fails", 0, "every n-th answer is 503; 0: none")
	silent := flag.Bool("no-usage", false, "answers have no usage")
	refuses := flag.String("refuses", "", "what each answer says, with status 400")
	starting := flag.Duration("starting", 0, "until then answers are 404: the model is loading")
	touches := flag.String("touches", "", "file that is made when more than 100 tokens are asked for")
	logs := flag.Bool("log", false, "a line for each answer")
	flag.Parse()
	begin := time.Now()
	var count atomic.Int64
	server := testserver.Unstarted(func(a *testserver.Answer) {
		switch n := count.Add(1); {
		case a.Path == "/v1/models":
			a.Head(http.StatusOK, "application/json")
			a.Raw(`{"data":[{"id":"mock"}]}`)
		case *refuses != "":
			a.Head(http.StatusBadRequest, "text/plain")
			a.Raw(*refuses)
		case time.Since(begin) < *starting:
			a.Head(http.StatusNotFound, "application/json")
			a.Raw(`{"error":"model mock is loading"}`)
		case a.Path == "/tokenize":
			text, _ := a.Body["prompt"].(string)
			a.Head(http.StatusOK, "application/json")
			a.Raw(fmt.Sprintf(`{"count":%d}`, len(text)))
		case *fails > 0 && n%*fails == 0:
			a.Head(http.StatusServiceUnavailable, "text/plain")
			a.Raw("overloaded")
		default:
			if n, _ := a.Body["max_tokens"].(float64); *touches != "" && n > 100 {
				_ = os.WriteFile(*touches, nil, 0o600)
			}
			if *logs {
				fmt.Println("asked")
			}
			answer(a, *first, *gap, !*silent)
		}
	})
	var err error
	if server.Listener, err = net.Listen("tcp", *listen); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *address != "" {
		if err := os.WriteFile(*address, []byte(server.Listener.Addr().String()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	server.Start()
	fmt.Println("listens at", server.URL)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
	server.CloseClientConnections()
}

func answer(a *testserver.Answer, first, gap time.Duration, usage bool) {
	tokens := 16
	if n, ok := a.Body["max_tokens"].(float64); ok {
		tokens = int(n)
	}
	text, _ := json.Marshal([]any{a.Body["prompt"], a.Body["messages"]})
	words := len(strings.Fields(string(text)))
	if stream, _ := a.Body["stream"].(bool); !stream {
		time.Sleep(first + time.Duration(tokens)*gap)
		a.Head(http.StatusOK, "application/json")
		a.Raw(fmt.Sprintf(`{"choices":[{"text":"x","message":{"content":"x"}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
			words, tokens))
		return
	}
	a.Stream()
	for i := range tokens {
		if i == 0 {
			time.Sleep(first)
		} else if gap > 0 {
			time.Sleep(gap)
		}
		a.Token("x")
	}
	if usage {
		a.Finish(words, tokens)
		return
	}
	a.Event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	a.Event("[DONE]")
}
