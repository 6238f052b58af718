// Package serving says what a request of a load on an OpenAI-compatible endpoint is, and what
// became of it. The rooms below it make loads (prompt, schedule, trace), send them (client,
// stream) and compute metrics of them (summary). All times are nanoseconds on one monotonic
// clock, from the start of the load.
package serving

import "math"

// Never is a time that did not come.
const Never = math.MinInt64

// Unknown is a number of tokens that nobody told.
const Unknown = -1

// Phase is the part of a load that a request belongs to. Metrics are of Measured only.
type Phase uint8

// The phases, in their order.
const (
	Ready  Phase = iota // asks whether the endpoint answers; its first success is the cold start
	Warmup              // fills caches and connections
	Measured
)

// Request is one that is to be sent.
type Request struct {
	Index int // in the load, over all clients
	Phase Phase
	Due   int64 // Never: as soon as a slot is free
	// Session is the conversation that it is a turn of, and Turn its place there. A turn is sent
	// Think nanoseconds after the one before it has ended.
	Session, Turn int
	Think         int64
	// Body is the JSON that is posted. Follow makes it of the answers to the turns before, of a
	// turn that needs them; nil: Body is complete.
	Body   []byte
	Follow func(answers []string) []byte
	// Input and Output are the tokens asked for; 0: nobody said.
	Input, Output int
	// Text bounds the content of the answer, in bytes, which the record then has; 0: it has none of it.
	Text int
	// CancelAfter is when the client hangs up: so many nanoseconds after Start, or after so many
	// generation events; 0: it does not.
	CancelAfter  int64
	CancelEvents int
}

// Outcome is how a request ended.
type Outcome uint8

// The outcomes. All but OK and Cancelled are errors.
const (
	OK         Outcome = iota
	Cancelled          // by the client, on purpose
	Connect            // no connection: refused, unreachable, TLS, name
	Timeout            // to connect, for the first event, between two, or in all
	Status             // an HTTP status that is not 2xx, or an error object inside of a 200
	Truncated          // the answer ended without its end: no finish reason and no [DONE]
	Malformed          // not HTTP, not an event stream, or not JSON
	Empty              // it ended well and generated nothing
	Unfinished         // the load was over before the request
)

// TokenSource says who counted the output tokens of a request, the most trusted first.
type TokenSource uint8

// The sources.
const (
	ByNobody    TokenSource = iota
	ByUsage                 // the usage that ends an answer
	ByTokenizer             // the server's /tokenize
	ByEvents                // an event is taken for a token: an estimate
)

// Record is what became of a request.
type Record struct {
	Index         int
	Phase         Phase
	Session, Turn int
	Outcome       Outcome
	Status        int    // of HTTP; 0: there was none
	Error         string // the cause, for a person; "" unless Outcome is an error
	Reused        bool   // its connection had served another request before

	Due       int64 // as Request.Due
	Slot      int64 // a slot of the client was free for it, and the turn before it over
	Start     int64 // it was handed to the transport
	Connected int64 // it had a connection
	Sent      int64 // its body was written
	Headers   int64 // the head of the answer was read
	// What was read has the time at which the kernel received it, where that is known.
	// First is the first event that carries generated output on any channel (content,
	// reasoning, tool call), FirstContent the first with content, Last the last of either.
	First, FirstContent, Last int64
	Done                      int64 // its end was read, or seen to be missing
	Events                    []Event

	AskedInput, AskedOutput int // as Request's; 0: nobody said
	Input, Output, Cached   int // tokens; Unknown
	Source                  TokenSource
	Answer                  string // what it generated, kept for the turns that follow; not stored
	// Blank are the events without output that came before the first with some, though nothing else
	// was in them, and Doubt is why the usage was not believed. Neither is stored.
	Blank int
	Doubt string
}

// Event is the arrival of one event that carries generated output.
type Event struct {
	At        int64
	Tokens    int32 // generated until here, by continuous usage; Unknown
	Coalesced bool  // the read that brought it brought the one before, too
}
