package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"weir/serving"
	"weir/serving/stream"
)

// refusal is what an answer says whose status is not 2xx. One that changes the protocol has no body: what
// follows is the other protocol.
func refusal(answer *http.Response) string {
	if answer.StatusCode/100 == 1 {
		return stream.Words(answer.Status + ": it is no answer to a request")
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	return stream.Words(fmt.Sprintf("%s: %s", answer.Status, said))
}

// mostInformational bounds the answers of status 1xx that come before the answer.
const mostInformational = 100

var errInformational = errors.New("too many answers of status 1xx")

// ending is an answer that ends with its context: what has come may be unpacked to much more.
type ending struct {
	ctx  context.Context
	body io.Reader
}

func (e ending) Read(to []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.body.Read(to)
}

// kindOf is the media type of an answer; "": it says none.
func kindOf(answer *http.Response) string {
	said := answer.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(said); err == nil {
		return kind
	}
	return said
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// tellForm adds type and encoding of an answer to what is wrong with it, if they are not those asked for and
// nothing of it was understood.
func tellForm(rec *serving.Record, answer *http.Response, streams bool) {
	switch rec.Outcome {
	case serving.Truncated, serving.Malformed, serving.Empty:
	default:
		return
	}
	if len(rec.Events) > 0 {
		return
	}
	var form []string
	kind := kindOf(answer)
	if streams && kind != "text/event-stream" || !streams && !isJSON(kind) {
		form = append(form, "Content-Type "+stream.Words(kind))
		if kind == "" {
			form[0] = "no Content-Type"
		}
	}
	if encoding := answer.Header.Get("Content-Encoding"); encoding != "" && !strings.Contains(rec.Error, encoding) {
		form = append(form, "Content-Encoding "+stream.Words(encoding))
	}
	if len(form) > 0 {
		rec.Error += " (" + strings.Join(form, ", ") + ")"
	}
}
