package output

import (
	"bytes"
	"errors"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// blanksAtEnds matches blanks at the end of a line, with the end.
var blanksAtEnds = lazyregexp.New(`[ \t\r]+\n`)

// withoutNotes blanks the text before and after the document in an output, so that line numbers
// stay the same. What a progress bar overwrites is a line of its own.
func withoutNotes(output []byte) []byte {
	output = bytes.ReplaceAll(blanksAtEnds().ReplaceAll(output, []byte("\n")), []byte("\r"), []byte("\n"))
	begin := 0
	if !bytes.HasPrefix(output, []byte("{")) {
		begin = bytes.Index(output, []byte("\n{")) + 1
	}
	end := len(output)
	if i := bytes.LastIndex(output, []byte("\n}\n")); i >= begin {
		end = i + len("\n}\n")
	}
	for i, c := range output {
		if (i < begin || i >= end) && c != '\n' {
			output[i] = ' '
		}
	}
	return output
}

// withoutText blanks the lines of an output that are outside of its JSON objects and lists, which begin in the first
// column and end at the end of a line. Line numbers stay the same. Not ok if there is none, or nothing beside them.
func withoutText(output []byte) (bare []byte, ok bool) {
	bare = bytes.Clone(output)
	found, text := false, false
	for at := 0; at < len(output); {
		from := at
		line, _, _ := bytes.Cut(output[at:], []byte("\n"))
		at += len(line) + 1
		if n := endOfValue(output[from:]); n > 0 {
			rest, _, _ := bytes.Cut(output[from+n:], []byte("\n"))
			if len(bytes.TrimSpace(rest)) == 0 {
				found, at = true, from+n+len(rest)+1
				continue
			}
		}
		begins := bytes.TrimSpace(line)
		if len(begins) > 0 && bytes.IndexByte([]byte(`{}]",`), begins[0]) >= 0 {
			return nil, false // of a document that is broken
		}
		text = text || len(begins) > 0
		for i := range line {
			bare[from+i] = ' '
		}
	}
	return bare, found && text
}

// endOfValue returns where the object or list ends that a text begins with; 0: it begins with none, or it does not end.
func endOfValue(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		if depth == 0 {
			if text[i] == '}' || text[i] == ']' {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// refuseEncoded names the form of an output that is no text in UTF-8.
func refuseEncoded(output []byte) error {
	for _, form := range []struct{ begins, is string }{
		{"\x1f\x8b", "a file of gzip: unpack it with gunzip"},
		{"\x28\xb5\x2f\xfd", "a file of zstd: unpack it with unzstd"},
		{"\xfd7zXZ\x00", "a file of xz: unpack it with unxz"},
		{"\xff\xfe", utf16}, {"\xfe\xff", utf16},
	} {
		if bytes.HasPrefix(output, []byte(form.begins)) {
			return errors.New("this is " + form.is)
		}
	}
	if begin := output[:min(len(output), 64)]; 4*bytes.Count(begin, []byte{0}) >= len(begin) && len(begin) > 0 {
		return errors.New("this is " + utf16)
	}
	return nil
}

const utf16 = "a text in UTF-16: iconv -f UTF-16 -t UTF-8 makes one in UTF-8"
