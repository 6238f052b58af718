package fabric

import (
	"math"
	"regexp"
)

// NIXL's backend LIBFABRIC writes to its log which provider its rails use, where NIXL_LOG_LEVEL is
// INFO, and the device of each rail too where it is DEBUG:
//
//	I1126 01:33:30.063243   23397 libfabric_rail_manager.cpp:345] Created rail 0 (device=eth0, provider=tcp)
//	I1126 01:33:30.063248   23397 libfabric_rail_manager.cpp:232] Created 1 rails using provider=tcp
//
// A request that is not striped uses one of the rails, and the log does not say which: each rail is a row of its own.
var (
	railsMade = regexp.MustCompile(`libfabric_rail_manager\.cpp:\d+\] Created \d+ rails using provider=(\S+)`)
	railMade  = regexp.MustCompile(`libfabric_rail_manager\.cpp:\d+\] Created rail \d+ \(device=([^,\s]+), provider=([^)\s]+)\)`)
)

// libfabricRails returns the providers of the rails, with their devices if the log has them.
func libfabricRails(log string) []LowerTransport {
	var all []LowerTransport
	add := func(name, device string) {
		for _, read := range []bool{false, true} {
			all = append(all, LowerTransport{
				Read: read, High: math.MaxUint64, Name: name, Device: device, Row: name + "/" + device,
			})
		}
	}
	for _, m := range railMade.FindAllStringSubmatch(log, -1) {
		add(m[2], m[1])
	}
	if len(all) > 0 {
		return all
	}
	for _, m := range railsMade.FindAllStringSubmatch(log, -1) {
		add(m[1], "")
	}
	return all
}
