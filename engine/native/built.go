package native

/*
#include "weir.h"
*/
import "C"

// Built says what the C part was compiled with.
func Built() string { return C.GoString(C.weir_built()) }
