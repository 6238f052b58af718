package results_test

import (
	"fmt"

	"github.com/weir-bench/weir/results"
)

// A program reads the document of a session and prints the assertions that failed.
func Example() {
	doc, err := results.Read("../reporters/testdata/failed.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Session.Status, doc.Session.ExitCode)
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			if a.Verdict == results.Fail {
				fmt.Println(c.Key, a.Text)
			}
		}
	}
	// Output:
	// failed 1
	// bandwidth[block_size=4KiB] bandwidth between 1 and 2 GB/s
	// bandwidth[block_size=4KiB] ceiling <= 50%
	// bandwidth[block_size=1MiB] ceiling <= 50%
	// bandwidth[block_size=64MiB] bandwidth >= 11 GB/s where block_size >= 1MiB
	// bandwidth[block_size=64MiB] ceiling <= 50%
}
