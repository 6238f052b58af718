package output

// aiperfLoads returns the loads of a session in the file that weir writes in aiperf's format, or
// the document of aiperf itself. It skips loads that no launch measured.
func aiperfLoads(root *jsonValue) (loads []*jsonValue, err error) {
	session := root.find("weir_loads")
	if session == nil {
		return []*jsonValue{root}, nil
	}
	list, err := session.list()
	if err != nil {
		return nil, err
	}
	for _, load := range list {
		if of := load.find("weir_case"); of == nil || of.kind != text {
			return nil, at(load.line, "a load of weir_loads has no weir_case")
		}
		if load.find("request_throughput") != nil {
			loads = append(loads, load)
		}
	}
	if loads == nil {
		return nil, nothing("no load of weir_loads has a result")
	}
	return loads, nil
}
