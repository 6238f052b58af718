package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// The commands of a Markdown file are found in its blocks, also behind prompts, and told at their lines.
func TestMarkdown(t *testing.T) {
	text := strings.ReplaceAll(`# Bench
'''bash
export UCX_TLS=rc
ucx_perftest # the server
'''
1. Client:

   '''console
   (venv) me@node1:~/x$ ucx_perftest <server-ip> -t tag_bw \
       -s 4096
   +---------+
   | 3.2 ( ' |
   # ucx_perftest h -t tag_bw -s 7
   $ ucx_perftest h -t tag_bw -s 8
   '''
'''yaml
a: ucx_perftest
'''
'''
usage: fio [options] (see 'man
'''
> ~~~sh
> ucx_perftest h -t tag_bw -s 16
> ~~~

    ucx_perftest h -t tag_bw -s 32

Or '''ucx_perftest h -t tag_bw -s 64''', as '''ucx_perftest''' says.
`, "'''", "```")
	made, err := importer.Script("README.md", text, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range made.Fates {
		became, _, _ := strings.Cut(f.Became, ":")
		got = append(got, fmt.Sprint(f.Line, " ", became))
	}
	const want = "3 variables of later lines, 4 nothing, 9 run ucx_perftest, 14 run ucx_perftest_2, 20 nothing, 23 run ucx_perftest_3, " +
		"26 run ucx_perftest_4, 28 nothing"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
	var sizes []string
	for _, c := range planned(t, made.Scenario).Cases {
		sizes = append(sizes, fmt.Sprint(c.Options["block_size"], c.Env["UCX_TLS"]))
	}
	if got := strings.Join(sizes, " "); got != "4096Brc 8Brc 16Brc 32Brc" && got != "4KiBrc 8Brc 16Brc 32Brc" {
		t.Error(got)
	}
}

// Blocks of MyST, prompts in brackets, placeholders and other languages are what their authors meant.
func TestKindsOfBlocks(t *testing.T) {
	text := strings.ReplaceAll(`# Bench
'''bash
export SIZE=4
'''
'''{code-block} bash
:caption: The client
ucx_perftest h -t tag_bw -s 8
'''
'''console
[ec2-user@ip-10-0-0-1 ~]$ ucx_perftest h -t tag_bw -s 16
[0] 3.2
'''
'''powershell
ucx_perftest h -t tag_bw -s 32
'''
~~~{ .sh }
ucx_perftest h -t tag_bw -s <SIZE>
~~~
'''{code-block} python
run("ucx_perftest h -t tag_bw -s 32")
'''
`, "'''", "```")
	made, err := importer.Script("README.md", text, importer.Options{})
	if err == nil || !strings.Contains(err.Error(), `README.md:17: -s: "${SIZE_}"`) {
		t.Errorf("%v", err)
	}
	var got []string
	for _, f := range made.Fates {
		got = append(got, fmt.Sprint(f.Line, " ", f.Became))
	}
	const want = "3 variables of later lines, 7 run ucx_perftest, 10 run ucx_perftest_2, " +
		"14 nothing: weir reads no block of powershell, 17 not imported, 20 nothing: weir reads no block of python"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}

// What readers of a document replace, such as <host>, is no redirection.
func TestPlaceholders(t *testing.T) {
	const redirected = "ucx_perftest h -t tag_bw -s 8 <in >out"
	scenarioOf(t, redirected, importer.Options{}, []string{"block_size: 8B", "mode: stream"})
	made, err := importer.Script("", "ucx_perftest <host> -t tag_bw -s 8", importer.Options{})
	if err != nil || !strings.Contains(string(made.Scenario), "mode: stream") {
		t.Errorf("%v", err)
	}
	for _, line := range []string{"$ ", "+ ", "me@node1:~$ ", "(venv) $ "} {
		line += "ucx_perftest\u00a0h -t tag_bw -s 8"
		if _, err = importer.Script("", line, importer.Options{}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err = importer.Script("", "ucx_perftest h -t tag_bw -s <size>", importer.Options{}); err == nil ||
		!strings.Contains(err.Error(), `-s: "${SIZE}"`) {
		t.Errorf("%v", err)
	}
}
