// Package golden is what tests compare files with that they would write. One flag,
// -update, writes the files anew; `make golden` does in all packages.
//
// It is test support: no package of weir itself may import it.
package golden

import "flag"

// Update is whether the files are to be written anew.
var Update = flag.Bool("update", false, "write the golden files anew")
