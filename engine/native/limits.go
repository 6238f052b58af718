package native

// #include "process_limits.h"
import "C"

// ThreadsFit says whether this process could have so many more threads now.
func ThreadsFit(threads int) bool { return C.weir_threads_fit(C.int(threads)) != 0 }
