package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// curlLine are the words of a call of curl.
type curlLine struct {
	address string
	data    string
	sends   bool // it has data
	headers [][2]string
	dropped []string // flags that the load does not take over
}

// Flags of curl with a value: those of data, those that change nothing and others.
var (
	curlData = names("-d|--data|--data-raw|--data-binary|--data-ascii|--json")
	curlMore = names("-o|--output|-w|--write-out|-X|--request|-A|--user-agent|-D|--dump-header|-b|--cookie|-c|" +
		"--cookie-jar|-e|--referer|-F|--form|-T|--upload-file|-x|--proxy|-E|--cert|--key|--cacert|-m|--max-time|" +
		"--connect-timeout|--retry|--retry-delay|--retry-max-time|-u|--user|--oauth2-bearer|--resolve|--unix-socket|" +
		"--limit-rate|-K|--config|-z|-r|-Y|-y|--interface|--stderr|--trace|--trace-ascii")
	curlSilent = names("-s|--silent|-o|--output|-S|--show-error|-f|--fail|-N|--no-buffer|-v|--verbose|-i|--include|" +
		"-L|--location|-X|--request|--fail-with-body|--no-progress-meter|-#|--progress-bar|-w|--write-out|--http1.1|" +
		"-g|--globoff|--compressed")
)

// readCurl reads the words after curl.
func readCurl(words []string) (l curlLine) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		take := func(own string) string {
			if own != "" {
				return own
			}
			if i++; i < len(words) {
				return words[i]
			}
			return ""
		}
		switch {
		case strings.HasPrefix(word, "--"):
			name, own, joined := strings.Cut(word, "=")
			if joined && own == "" {
				own = " "
			}
			l.flag(name, own, take)
		case len(word) > 1 && word[0] == '-':
			for at := 1; at < len(word); at++ {
				if l.flag("-"+word[at:at+1], word[at+1:], take) {
					break
				}
			}
		case l.address == "" || strings.Contains(word, "://") && !strings.Contains(l.address, "://"):
			l.address = word
		}
	}
	return l
}

// flag reads a flag, and reports whether it takes a value: the rest of its word, or the next one.
func (l *curlLine) flag(name, own string, take func(string) string) bool {
	switch {
	case slices.Contains(curlData, name):
		l.data, l.sends = take(own), true
	case name == "-H" || name == "--header":
		header, value, _ := strings.Cut(take(own), ":")
		l.headers = append(l.headers, [2]string{header, strings.TrimSpace(value)})
	case name == "--oauth2-bearer":
		l.headers = append(l.headers, [2]string{"Authorization", "Bearer " + take(own)})
	case name == "--url":
		l.address = take(own)
	default:
		if !slices.Contains(curlSilent, name) {
			l.dropped = append(l.dropped, name)
		}
		if !slices.Contains(curlMore, name) {
			return false
		}
		take(own)
	}
	return true
}

// loads reports whether a call of curl asks a model.
func (l curlLine) loads() bool {
	_, path, _ := strings.Cut(l.address, "://")
	_, path, slash := strings.Cut(path, "/")
	return l.sends && (!slash || unexpanded(l.address) || strings.Contains(path, "completions")) ||
		strings.Contains(path, "/completions")
}

// severalAddresses matches what curl makes several addresses of.
var severalAddresses = lazyregexp.New(`\[\w+-\w+(?::\d+)?\]|\{[^{}$]*,[^{}]*\}`)

// curlRun maps a request with a body, as often as the script sends it.
func curlRun(c *call) {
	c.dropEnv()
	c.run.timeout = loadTimeout
	l := readCurl(c.positional)
	if len(l.dropped) > 0 {
		c.note("%s: not taken over; see timeout, tls_ca, proxy and headers of workload serving",
			strings.Join(l.dropped, ", "))
	}
	if several := severalAddresses().FindString(l.address); several != "" && !slices.Contains(c.positional, "-g") {
		c.fail("curl: %s: it sends a request for each; write a loop", several)
		return
	}
	if file, ok := strings.CutPrefix(l.data, "@"); ok {
		src, err := c.readFile(file)
		if err != nil {
			c.fail("curl: -d @%s: %w", file, err)
			return
		}
		l.data = string(src)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(l.data), &body); err != nil {
		c.fail("curl: -d is no JSON of a request: %q", l.data)
		return
	}
	of := "completions"
	if body["messages"] != nil {
		of = "chat"
	}
	c.setEndpoint(withScheme(l.address), of)
	model, _ := body["model"].(string)
	c.setModel(model)
	streams, _ := body["stream"].(bool)
	c.set("stream", truth(streams))
	if text := c.promptOf(body); text != "" {
		c.set("input", inline{{"text", c.texted("the prompt", text)}, {"prefix", literal("none")}})
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := body[name].(float64); ok {
			c.set("output", inline{{"tokens", literal(fmt.Sprint(int64(n)))}})
		}
	}
	for _, known := range []string{"model", "prompt", "messages", "max_tokens", "max_completion_tokens", "stream"} {
		delete(body, known)
	}
	c.setBody(body)
	head := headers{of: c}
	for _, h := range l.headers {
		head.add(h[0], h[1])
	}
	head.set()
	c.setWarmup("")
	c.setVarious()
	c.setLoad()
}

// promptOf returns the text of a request, that of the last message of a chat.
func (c *call) promptOf(body map[string]any) string {
	if text, ok := body["prompt"].(string); ok {
		return text
	}
	messages, _ := body["messages"].([]any)
	if len(messages) == 0 {
		return ""
	}
	if len(messages) > 1 {
		c.warn("-d: a prompt is one message of the user: the last of %d messages is sent, without the others",
			len(messages))
	}
	last, _ := messages[len(messages)-1].(map[string]any)
	text, ok := last["content"].(string)
	if !ok {
		c.warn("-d: the message is no text, and weir's own prompt is sent instead")
	}
	return text
}
