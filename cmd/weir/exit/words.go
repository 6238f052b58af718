package exit

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// rewording replaces a library's message by a plain one.
type rewording struct {
	text  func() *regexp.Regexp
	plain string
}

func reworded(text, plain string) rewording { return rewording{lazyregexp.New(text), plain} }

// ofFlag is the start of pflag's messages.
const ofFlag = `invalid argument "(.*?)" for "(?:-\w, )?(--[\w-]+)" flag: `

// rewordings are for the messages of Go, cobra, gRPC and encoding/json.
var rewordings = []rewording{
	reworded(ofFlag+`strconv\.Parse(?:Int|Uint): parsing .*: value out of range`,
		`$2: "$1" is too large`),
	reworded(ofFlag+`(?:strconv\.(?:Atoi|ParseInt|ParseUint): )parsing .*`,
		`$2: "$1" is not a whole number`),
	reworded(ofFlag+`strconv\.ParseFloat: .*`, `$2: "$1" is not a number`),
	reworded(ofFlag+`strconv\.ParseBool: .*`,
		`$2: "$1" is neither true nor false`),
	reworded(ofFlag+`time: .*`, `$2: "$1" is not a time: write 30s or 5m`),
	reworded(ofFlag+``, `$2: "$1": `),
	reworded(`flag needs an argument: '(\w)' in -\w+`, `-$1 needs a value`),
	reworded(`flag needs an argument: (--[\w-]+)`, `$1 needs a value`),
	reworded(`unknown shorthand flag: '(.)' in (-\S+)`, `there is no flag -$1`),
	reworded(`if any flags in the group \[(.*?)\] are set none of the others can be; \[(.*?)\] were all set`,
		`use one of $1, not several ($2)`),
	reworded(`required flag\(s\) (.*) not set`, `$1 must be given`),
	reworded(`json: cannot unmarshal (\w+) into Go value of type \S+`, `it is JSON of another kind: it begins with $1`),
	reworded(`json: unknown field ("\S+")`, `this version of weir does not know the key $1`),
	reworded(`(?:jsontext: |json: )?invalid character .*?`+
		`(?: at start of value| looking for beginning of value| in literal .*| after .*)(?:\nit is no object)?`,
		`it is not JSON`),
	reworded(`: (?:unexpected )?EOF(?:\nit is no object)?$`, `: it is empty, or ends too early`),
	reworded(`(?:jsontext: )?unexpected EOF`, `it ends too early`),
	reworded(`\nit is no object`, `: it is no object`),
	reworded(`exec: "(.*?)": executable file not found in \$PATH`, `the program $1 is not installed, or not in PATH`),
	reworded(`(?:taking a lease: )?no answer within (\S+): connection error: desc = "transport: (.*?)"`,
		`no answer within $1: $2`),
	reworded(`connection error: desc = "transport: (.*?)"`, `$1`),
	reworded(`(?:Error while dialing|authentication handshake failed): `, ``),
	reworded(`dial (?:tcp|unix) (\S+): connect: (?:connection refused|no such file or directory)`,
		`nothing listens at $1`),
	reworded(`dial tcp: lookup (\S+?)(?: on \S+)?: no such host`, `there is no host $1`),
	reworded(`dial tcp (\S+): (?:i/o timeout|connect: connection timed out)`, `$1 does not answer`),
	reworded(`rpc error: code = \w+ desc = `, ``),
	reworded(`context deadline exceeded`, `it took too long`),
	reworded(`\b(?:open|stat|lstat|readlink|chdir|mkdir) (\S+): no such file or directory`, `$1 does not exist`),
	reworded(`\b(?:open|stat|lstat|mkdir|readdirent) (\S+): permission denied`,
		`$1 may not be read or written by this user`),
	reworded(`\b(?:open|mkdir|write|rename) (\S+(?: \S+)?): (read-only file system|no space left on device)`, `$1: $2`),
}

// Reword replaces the messages of libraries in an error by plain ones.
func Reword(message string) string {
	message = rewordTypes(message)
	for _, r := range rewordings {
		message = r.text().ReplaceAllString(message, r.plain)
	}
	return message
}

// argumentCount is cobra's message about the number of arguments.
var argumentCount = lazyregexp.New(
	`^(requires at least|accepts|accepts between|accepts at most) [\d and]+ ?arg\(s\), (?:only )?received (\d+)$`)

// noArguments is cobra's message about an argument of a command that takes none.
var noArguments = lazyregexp.New(`^unknown command ("[^"]*") for "([^"]+)"$`)

// rewordArguments says which arguments a command takes, if their number is wrong.
func rewordArguments(message, path, use string) string {
	if m := noArguments().FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s takes no arguments, and %s was given", m[2], m[1])
	}
	m := argumentCount().FindStringSubmatch(message)
	if m == nil {
		return message
	}
	_, wanted, _ := strings.Cut(use, " ")
	if wanted == "" {
		return path + " takes no arguments"
	}
	given := m[2] + " were given"
	switch m[2] {
	case "0":
		given = "none was given"
	case "1":
		given = "one was given"
	}
	return path + " takes " + wanted + ", and " + given
}
