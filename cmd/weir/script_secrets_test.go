package main

import (
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// echoEndpoint is a program for scripts: a server that answers -good requests, and every other with
// -status and a text that has the key of the request in it: at another place and in another form each time.
func echoEndpoint() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	good := flag.Int64("good", 0, "requests that get an answer")
	status := flag.Int("status", http.StatusUnauthorized, "of all others")
	flag.Parse()
	var count atomic.Int64
	l, err := net.Listen("tcp", *listen)
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := count.Add(1)
			key := r.Header.Get("Authorization")
			fmt.Printf("request %d with %s and %s\n", n, key, broken(key, "\x1b[1m"))
			if r.URL.Path == "/ready" {
				return
			}
			if n <= *good {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {\"choices\":[{\"text\":\"word \",\"index\":0}]}\n\ndata: {\"choices\":[{\"text\":\"word \","+
					"\"index\":0,\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
				return
			}
			w.WriteHeader(*status)
			fmt.Fprintf(w, "%s%s%s", strings.Repeat("x", 110+int(n)%120), echoed(key, int(n)),
				strings.Repeat(" y", 2000))
		}))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// echoed is a text in one of the forms in which servers repeat it.
func echoed(text string, n int) string {
	switch n % 6 {
	case 0:
		return broken(text, "\x01")
	case 1:
		return broken(text, "\n    ")
	case 2:
		return url.QueryEscape(text)
	case 3:
		var b strings.Builder
		for _, c := range text {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		return b.String()
	case 4:
		return broken(text, "\u200b")
	}
	return text
}

// broken has something in the middle of each word of a text.
func broken(text, by string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = w[:len(w)/2] + by + w[len(w)/2:]
	}
	return strings.Join(words, " ")
}

// hidden fails if the output, or a file in folders, has eight consecutive characters of a text. Its command
// line is: hidden TEXT PATH….
func hidden(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: hidden TEXT PATH…")
	}
	look := func(name, text string) {
		text = strings.Map(func(r rune) rune { // as a reader sees it
			if r <= ' ' || r == '\x7f' {
				return -1
			}
			return r
		}, text)
		for i := range len(args[0]) - 7 {
			if strings.Contains(text, args[0][i:i+8]) {
				ts.Fatalf("%s has %q", name, args[0][i:i+8])
			}
		}
	}
	look("stdout", ts.ReadFile("stdout"))
	look("stderr", ts.ReadFile("stderr"))
	files := 0
	for _, path := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(path), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			b, err := os.ReadFile(path)
			look(path, string(b))
			return err
		}))
	}
	if files == 0 {
		ts.Fatalf("there are no files")
	}
}
