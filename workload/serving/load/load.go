// Package load defines the requests of a load on an OpenAI-compatible endpoint, and their records. Neighbouring
// packages make loads (prompt, schedule), send them (client, stream) and compute their metrics (summary). All times are
// nanoseconds on one monotonic clock, from the start of the load.
package load

import "math"

// Never is a time that did not occur.
const Never = math.MinInt64

// Unknown is an unknown number of tokens.
const Unknown = -1

// Phase is the part of a load that a request belongs to. Only Measured counts in metrics.
type Phase uint8

// The phases in order.
const (
	Ready  Phase = iota // polls the endpoint until it answers; its first success is the cold start
	Warmup              // fills caches and connections
	Measured
)

// Request is a request to send.
type Request struct {
	Index int // in the load, over all clients
	Phase Phase
	Due   int64 // scheduled time; Never: as soon as a slot is free
	// Session is the index of its conversation, and Turn its index there. A turn is sent Think nanoseconds after the
	// one before has ended.
	Session, Turn int
	Think         int64
	// Body is the JSON to post. Follow makes it from the answers to earlier turns; nil: Body is complete.
	Body   []byte
	Follow func(answers []string) []byte
	// Input and Output are the requested tokens; 0: unspecified.
	Input, Output int
	// Text limits the bytes of the answer's content that the record keeps; 0: it keeps none.
	Text int
	// CancelAfter is when the client cancels: this many nanoseconds after Start, or after this many events with output;
	// 0: never.
	CancelAfter  int64
	CancelEvents int
}

// Outcome is the result of a request.
type Outcome uint8

// The outcomes. All but OK and Cancelled are errors.
const (
	OK         Outcome = iota
	Cancelled          // by the client, on purpose
	Connect            // no connection: refused, unreachable, TLS, name
	Timeout            // to connect, for the first event, between two, or in all
	Status             // an HTTP status that is not 2xx, or an error object in a 200
	Truncated          // the answer broke off: no finish reason and no [DONE]
	Malformed          // not HTTP, not an event stream, or not JSON
	Empty              // it ended normally without output
	Unfinished         // the load ended before the request
)

// TokenSource is the source of a request's number of output tokens, the most trusted first.
type TokenSource uint8

// The sources of token counts.
const (
	ByNobody    TokenSource = iota
	ByUsage                 // the usage at the end of an answer
	ByTokenizer             // the server's /tokenize
	ByEvents                // an event counts as a token: an estimate
)

// Record is the result of a request.
type Record struct {
	Index         int
	Phase         Phase
	Session, Turn int
	Outcome       Outcome
	Status        int    // HTTP status; 0: none
	Error         string // the cause; "" unless Outcome is an error
	Reused        bool   // its connection had served another request before

	Due       int64 // as Request.Due
	Slot      int64 // when a slot of the client was free, and the turn before it over
	Start     int64 // when it was handed to the transport
	Connected int64 // when it had a connection
	Sent      int64 // when its body was written
	Headers   int64 // when the header of the answer was read
	// Times of reads are the arrival times at the kernel, if known. First is the first event with generated output on
	// any channel (content, reasoning, tool call), FirstContent the first with content, Last the last of either.
	First, FirstContent, Last int64
	Done                      int64 // when its end was read, or found missing
	Events                    []Event

	AskedInput, AskedOutput int // as in Request; 0: unspecified
	Input, Output, Cached   int // tokens; Unknown
	Source                  TokenSource
	Answer                  string // output, kept for later turns; not stored
	// Blank is the number of empty events before the first output, Doubt why the usage was ignored, Open that the
	// answer stayed open after [DONE], and Hidden that the tokens of the first event are also those of reasoning that
	// no event brought; Beyond that there was output which is not in Answer, such as reasoning. None is stored.
	Blank  int
	Doubt  string
	Open   bool
	Hidden bool
	Beyond bool
}

// Event is the arrival of an event with generated output.
type Event struct {
	At        int64
	Tokens    int32 // generated so far, by continuous usage; or Unknown
	Coalesced bool  // its read also brought the event before
	Unsure    bool  // its output is in members that are not known
}
