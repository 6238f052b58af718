package native

// #include "sys_limits.h"
import "C"

// ThreadsFit returns whether this process can have this many more threads now.
func ThreadsFit(threads int) bool { return C.weir_threads_fit(C.int(threads)) != 0 }
