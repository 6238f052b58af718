package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
)

// etcdPut is a program that writes keys into etcd: etcd-put URL KEY….
func etcdPut() {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 5 * time.Second})
	for _, key := range os.Args[2:] {
		if err == nil {
			_, err = c.Put(context.Background(), key, "here")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("registered")
}

// nowhere holds a folder to not containing a text in any file: nowhere DIR TEXT.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nowhere DIR TEXT")
	}
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), args[1]) {
			err = fmt.Errorf("%s contains %q", path, args[1])
		}
		return err
	}))
	if files == 0 {
		ts.Fatalf("%s has no files", args[0])
	}
}

// replaceText replaces a text in a file where it first stands: replace FILE OLD NEW.
func replaceText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// launches holds a session to the order in which its launches began: launches DIR 'GROUP GROUP …'.
func launches(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: launches DIR 'GROUP GROUP …'")
	}
	var groups []string
	for line := range strings.Lines(ts.ReadFile(filepath.Join(args[0], "events.ndjson"))) {
		var e event.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		if e.Type == event.LaunchStarted {
			groups = append(groups, e.Group)
		}
	}
	if got := strings.Join(groups, " "); got != args[1] {
		ts.Fatalf("launches %s, want %s", got, args[1])
	}
}

// fingerprint adds the environment of a session to a file of references: fingerprint DIR FILE.
func fingerprint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fingerprint DIR FILE")
	}
	var doc results.Document
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(args[0], "results.json"))), &doc))
	text := ts.ReadFile(args[1]) + "environment: " + doc.Environment.Fingerprint + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// statuses holds the cases of a session to a file with a line KEY STATUS REASON
// for each: statuses DIR FILE.
func statuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: statuses DIR FILE")
	}
	doc, err := results.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	var b strings.Builder
	for _, c := range doc.Cases {
		fmt.Fprintln(&b, strings.TrimSpace(c.Key+" "+c.Status+" "+c.Reason))
	}
	if want := ts.ReadFile(args[1]); b.String() != want {
		ts.Fatalf("%s has\n%s\nwant\n%s", args[0], b.String(), want)
	}
}
