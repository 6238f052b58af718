#ifndef OPTIONS_TEST_H
#define OPTIONS_TEST_H

int options_tested(void); /* how many checks of options.c failed */

#endif
