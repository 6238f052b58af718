package prompt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Limits of a file of prompts.
const (
	maxPrompts = 1 << 20
	maxLine    = 1 << 24 // bytes
)

// ReadPrompts reads a file of prompts: a JSON array of texts or of entries, as ShareGPT has, an entry in each line
// (JSON Lines), or a text in each line that is not empty. Entries without a prompt, such as conversations that the
// model begins, are left out, if others have one.
func ReadPrompts(content []byte) ([]string, error) {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\uFEFF")))
	var list []string
	var err error
	switch begins := beginning(content); {
	case bytes.IndexByte(begins, 0) >= 0, bytes.HasPrefix(begins, []byte(gzipMagic)):
		return nil, errors.New("the file is no text in UTF-8: unpack or convert it first")
	case bytes.HasPrefix(begins, []byte("[{")):
		list, err = ofArray(content, entryPrompt)
	case bytes.HasPrefix(begins, []byte(`["`)), json.Valid(content) && begins[0] == '[':
		list, err = ofArray(content, ownText)
	case bytes.HasPrefix(begins, []byte(`{"`)):
		list, err = ofLines(content, entryPrompt)
	default:
		list, err = ofLines(content, func(line []byte) (string, error) { return string(line), nil })
	}
	if err == nil && len(list) == 0 {
		err = errors.New("there are no prompts in the file: texts in lines, or JSON entries with " + entryForms)
	}
	return list, err
}

const gzipMagic = "\x1f\x8b"

// beginning returns how a file begins, without blanks after the brackets of JSON.
func beginning(content []byte) []byte {
	begins := content[:min(len(content), 1<<10)]
	if len(begins) > 0 && (begins[0] == '[' || begins[0] == '{') {
		return append(begins[:1:1], bytes.TrimSpace(begins[1:])...)
	}
	return begins
}

// ofLines reads what each line that is not empty has.
func ofLines(content []byte, read func([]byte) (string, error)) (list []string, err error) {
	in := bufio.NewScanner(bytes.NewReader(content))
	in.Buffer(make([]byte, 1<<16), maxLine)
	number := 1
	for ; in.Scan(); number++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		if list, err = appended(list, line, read); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	return list, nil
}

// ofArray reads what each entry of a JSON array has.
func ofArray(content []byte, read func([]byte) (string, error)) (list []string, err error) {
	in := json.NewDecoder(bytes.NewReader(content))
	_, _ = in.Token() // [
	for number := 1; in.More(); number++ {
		var entry json.RawMessage
		if err = in.Decode(&entry); err == nil {
			list, err = appended(list, entry, read)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", number, err)
		}
	}
	if _, err := in.Token(); err != nil {
		return nil, fmt.Errorf("the JSON array has no end: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the end of the JSON array")
	}
	return list, nil
}

func appended(list []string, entry []byte, read func([]byte) (string, error)) ([]string, error) {
	text, err := read(entry)
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); err != nil || text == "" {
		return list, err
	}
	if len(list) == maxPrompts {
		return nil, fmt.Errorf("there are more than %d prompts", maxPrompts)
	}
	return append(list, text), nil
}

// turn is one of a conversation: of ShareGPT, or of OpenAI's protocol.
type turn struct {
	From, Role     string
	Value, Content json.RawMessage
}

const entryForms = "prompt, text, text_input, question, conversations or messages"

// entryPrompt returns the prompt of an entry, or "" if it is a conversation that no user begins.
func entryPrompt(line []byte) (string, error) {
	var entry struct {
		Prompt, Text, Question  json.RawMessage
		TextInput               json.RawMessage `json:"text_input"`
		Conversations, Messages []turn
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return "", err
	}
	for _, raw := range []json.RawMessage{entry.Prompt, entry.Text, entry.TextInput, entry.Question} {
		if raw != nil {
			return ownText(raw)
		}
	}
	messages := append(entry.Conversations, entry.Messages...)
	if messages == nil {
		return "", errors.New("the entry has none of " + entryForms)
	}
	i := slices.IndexFunc(messages, func(m turn) bool {
		return slices.Contains([]string{"human", "user"}, m.From+m.Role)
	})
	if i < 0 {
		return "", nil
	}
	return ownText(append(messages[i].Value, messages[i].Content...))
}

// ownText reads a text. Prompts of several parts, or of token ids, are not texts.
func ownText(raw []byte) (text string, err error) {
	if json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("the prompt is no text: %.40s", raw)
	}
	return text, nil
}
