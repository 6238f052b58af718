package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/stream"
)

// refusal is the text of an answer with a status other than 2xx. A switch of protocols has no body: the other protocol
// follows.
func refusal(answer *http.Response) string {
	if answer.StatusCode/100 == 1 {
		return stream.Words(answer.Status + ": not an answer to a request")
	}
	status, encoding := answer.Status, answer.Header.Get("Content-Encoding")
	if to := answer.Header.Get("Location"); to != "" && answer.StatusCode/100 == 3 {
		status += " to " + to + ", which is not followed"
	}
	body, err := stream.Unpack(answer.Body, encoding, stream.Limits{Bytes: stream.MaxBytes})
	if err != nil {
		return stream.Words(status + " with Content-Encoding " + encoding)
	}
	said, _ := io.ReadAll(io.LimitReader(body, 4<<10))
	return stream.Words(fmt.Sprintf("%s: %s", status, said))
}

// maxInformational limits the answers of status 1xx before the answer.
const maxInformational = 100

var errInformational = errors.New("too many answers of status 1xx")

// ending is an answer that ends with its context: received data may unpack to much more.
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

// kindOf returns the media type of an answer; "" if it has none.
func kindOf(answer *http.Response) string {
	said := answer.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(said); err == nil {
		return kind
	}
	return said
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// isDocument reports whether an answer to the request of a stream is JSON, by its first byte: proxies and servers
// give streams other types. No line of a stream begins with a brace.
func isDocument(first []byte, kind string) bool {
	return string(first) == "{" || isJSON(kind) && (len(first) == 0 || !bytes.Contains([]byte(":deir"), first))
}

// tellForm adds the type and encoding of an answer to its error, if they are not the expected ones and nothing of it
// was understood.
func tellForm(rec *load.Record, answer *http.Response, streams bool) {
	switch rec.Outcome {
	case load.Truncated, load.Malformed, load.Empty:
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
