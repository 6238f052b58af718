package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/stream"
)

// afterDone is how long an answer may stay open after [DONE]; then its connection is closed.
const afterDone = 250 * time.Millisecond

var errOpen = errors.New("the answer stays open after [DONE]")

// address sets the headers of a request. A Host there names the server to a gateway.
func (c *Client) address(post *http.Request) {
	for name, values := range c.cfg.Headers {
		post.Header[name] = values
	}
	post.Host = post.Header.Get("Host")
	post.Header.Set("Content-Type", "application/json")
}

// exchange posts the body and reads the answer.
func (c *Client) exchange(ctx context.Context, cancel context.CancelCauseFunc, q *load.Request, body []byte,
	rec *load.Record, came func() *arrivals) error {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	c.address(post)
	if c.cfg.Stream {
		post.Header.Set("Accept", "text/event-stream")
	}
	quiet := c.awaitEvents(cancel)
	defer quiet.timer.Stop()
	answer, err := c.transport.RoundTrip(post)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	arrived := came()
	rec.Headers, rec.Status = arrived.now(), answer.StatusCode
	if answer.StatusCode/100 != 2 {
		rec.Outcome, rec.Error = load.Status, refusal(answer)
		return nil
	}
	limits := stream.Limits{Bytes: c.cfg.Bytes, Events: c.cfg.Events, Text: q.Text, Prompt: len(body),
		Choices: c.cfg.Choices}
	reader := stream.NewReader(rec, limits, arrived.now, func(events int) bool {
		if events > 0 {
			quiet.touch()
		}
		return q.CancelEvents == 0 || events < q.CancelEvents
	})
	close := time.AfterFunc(never, func() { cancel(errOpen) })
	defer close.Stop()
	reader.Ended = func() { close.Reset(afterDone) }
	err = c.read(ctx, reader, answer, limits)
	rec.Open = errors.Is(context.Cause(ctx), errOpen)
	tellForm(rec, answer, c.cfg.Stream)
	return err
}

// read reads an answer of either form.
func (c *Client) read(ctx context.Context, reader *stream.Reader, answer *http.Response, l stream.Limits) error {
	unpacked, err := stream.Unpack(answer.Body, answer.Header.Get("Content-Encoding"), l)
	if err != nil {
		return reader.Refuse(err)
	}
	body := ending{ctx, unpacked}
	if !c.cfg.Stream {
		return reader.Whole(body)
	}
	buffered := bufio.NewReaderSize(body, 1) // events need no further buffer
	first, err := buffered.Peek(1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return reader.Refuse(err)
	case isDocument(first, kindOf(answer)):
		return reader.InPlaceOfStream(buffered)
	}
	err = reader.Events(buffered)
	if err == nil { // a connection is reused only if its answer was read completely
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 4<<10))
	}
	return err
}
